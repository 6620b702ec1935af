// SPDX-License-Identifier: BSL-1.0
// The hooks of tasks. Each takes the lock of its worker's lane, for which only a thread that
// attaches or detaches contends. It costs 5 ns and lets a sink use plain data. For an unsampled
// task (sampling.hpp) no lock is taken: its only state is in its own record.
#include "record/lane_visit.hpp"
#include "record/listeners.hpp"

#include <quern/base/detail/process.hpp>
#include <quern/scheduler/detail/record_copy.hpp>
#include <quern/task/this_task.hpp>

#include <algorithm>
#include <mutex>

namespace quern::trace::detail {

namespace {

using quern::detail::context;
using quern::detail::current_context;
using quern::detail::runnable;
using quern::detail::traced_task;
using quern::detail::work;

constexpr std::uint64_t k_ids_at_once = 1024;  ///< ids that a worker reserves at a time (guessed)
constexpr int k_rank_bits = 16;
constexpr std::uint64_t k_rank_mask = (1U << k_rank_bits) - 1;
constexpr std::uint64_t k_no_rank = k_rank_mask - 1;

/// Packs the task that made an item ready, by its id or 0, and the worker by its rank. The rank is
/// stored plus 1, so that the result is never 0.
std::uint64_t doing_of(std::uint64_t task, std::uint64_t rank) noexcept {
    return (task << k_rank_bits) | (rank + 1);
}
bool is_known(const readiness& ready) noexcept { return ready.by != 0; }
std::uint64_t task_of(const readiness& ready) noexcept { return ready.by >> k_rank_bits; }
std::uint64_t rank_of(const readiness& ready) noexcept { return (ready.by & k_rank_mask) - 1; }

task_record& present_task() noexcept { return current_context()->root().task(); }

/// The origin of a task that begins on this worker: its parent, and whether it was stolen. A parent
/// that has suspended may be moving to another worker meanwhile: then either answer may come.
traced_task origin_of(const worker& on, const work& item, context* forked_by) noexcept {
    traced_task made;
    if (forked_by != nullptr) {
        quern::detail::record_copy parent(*forked_by);
        made.parent = parent->id;
        made.is_stolen = &forked_by->host() != &on;
        made.is_part = true;
        present_task().site = parent->site;
        return made;
    }
    const readiness& ready = static_cast<const runnable&>(item).ready;
    if (is_known(ready)) {
        made.parent = task_of(ready);
        made.is_stolen = rank_of(ready) != k_no_rank && rank_of(ready) != on.rank();
    }
    return made;
}

}  // namespace

void pool_hooks::number(lane& at, task_record& task) noexcept {
    if (task.id != 0) {
        return;
    }
    if (at.ids_left == 0) {
        at.next_id = quern::detail::new_task_id(k_ids_at_once);
        at.ids_left = k_ids_at_once;
    }
    task.id = at.next_id++;
    --at.ids_left;
}

void pool_hooks::begin_piece(lane& at, task_record& task, tick_count now, const readiness& ready,
                             bool adjoins) noexcept {
    task.trace.begun = now;
    at.is_continued = false;
    at.cause = is_known(ready) ? task_of(ready) : 0;
    at.ready_at = ready.at > m_since.load(std::memory_order_relaxed) ? ready.at : 0;
    note_running(at, task);
    if (at.measures && task.trace.weight != 0) {
        measure(at, task, adjoins);
    }
}

/// Copies the record: a thread that stops a recording reads the copy while the record changes.
void pool_hooks::note_running(lane& at, const task_record& task) noexcept {
    at.is_running = true;
    at.running.name = task.name;
    at.running.site = task.site;
    at.running.entry = task.entry;
    at.running.id = task.id;
    at.running.trace = task.trace;
}

/// Measuring takes as long as a short task. Restarts the task's clock afterwards to exclude it.
void pool_hooks::measure(lane& at, task_record& task, bool adjoins) noexcept {
    for (sink* const s : at.sinks) {
        s->piece_begins(adjoins);
    }
    task.trace.begun = quern::detail::ticks();
}

/// A long task represents only itself, because every long task is recorded.
void pool_hooks::end_piece(lane& at, std::uint32_t rank, task_record& task, tick_count now,
                           piece_end how) noexcept {
    const tick_count begun = begin_of(task);
    number(at, task);
    at.item = nullptr;
    at.is_running = false;
    task.trace.spent = task.trace.spent + (now - begun);
    task.trace.begun = 0;
    task.trace.pieces = task.trace.pieces + 1;
    if (task.trace.spent >= long_time()) {
        task.trace.is_long = true;
    }
    const piece ended{rank, begun, now, at.cause, at.ready_at, at.is_continued, how, task};
    for (sink* const s : at.sinks) {
        s->piece_ends(ended);
    }
}

/// A piece of an unsampled task ends. True: the task is long and is recorded nevertheless.
bool pool_hooks::is_long(task_record& task, tick_count now) noexcept {
    const tick_count spent = task.trace.spent + (now - task.trace.begun);
    if (spent >= long_time()) {
        task.trace.is_long = true;
        return true;
    }
    task.trace.spent = spent;
    task.trace.pieces = task.trace.pieces + 1;
    return false;
}

/// The lane's state is of an earlier piece. The waker of an unsampled task is unknown.
void pool_hooks::begin_late(lane& at, const task_record& task) noexcept {
    at.is_continued = false;
    at.cause = task.trace.parent;
    at.ready_at = 0;
}

/// Number of tasks that the task beginning on this worker represents; 0: it is not sampled.
std::uint16_t pool_hooks::weigh(worker& on) noexcept {
    sampling& takes = lane_of(on).takes;
    return takes.takes_all() ? 1 : takes.weigh();
}

/// Events between two readings count for the outer task, including those of an unsampled task that
/// runs inline. So when a sink measures, an inlined task is sampled iff its outer task is.
std::uint16_t pool_hooks::weigh_inlined(worker& on, const task_record& outer) noexcept {
    return lane_of(on).measures ? std::uint16_t{outer.trace.weight} : weigh(on);
}

void pool_hooks::on_made_ready(self which, pool& home, runnable& item) {
    pool_hooks& all = of(which);
    const task_record* const maker = [] {
        context* const root = quern::detail::task_root();
        return root != nullptr ? &root->task() : nullptr;
    }();
    const worker* const here = quern::detail::current_worker();
    const bool is_inside = here != nullptr && &here->home() == &home;
    const lane& l = *all.m_lanes[is_inside ? here->rank() : all.lanes()];
    item.ready = {doing_of(maker != nullptr ? static_cast<std::uint64_t>(maker->id) : 0,
                           is_inside ? here->rank() : k_no_rank),
                  l.takes.takes_all() || !item.staged ? quern::detail::ticks() : 0};
    if (item.staged && is_wanted(trace::event_kind::task_made)) {
        tell_made(home, is_inside ? here->rank() : k_no_worker, task_of(item.ready), item);
    }
}

void pool_hooks::tell_begins(lane& at, const beginning& begun) noexcept {
    for (sink* const s : at.sinks) {
        s->begins(begun);
    }
}

/// Begins the first piece of a task. `forked_by`: the forking context of a forked child, else null.
void pool_hooks::begin_task(lane& l, worker& on, work& item, context* forked_by) noexcept {
    task_record& task = present_task();
    if (l.item == &item) {  // begins again on a larger stack
        task.id = l.item_id;
    }
    number(l, task);
    l.item = &item;
    l.item_id = task.id;
    const auto* const queued = forked_by == nullptr ? static_cast<const runnable*>(&item) : nullptr;
    begin_piece(l, task, on.stats().since(), queued != nullptr ? queued->ready : readiness{});
    if (queued != nullptr) {  // the record gets these only later
        l.running.name = queued->name;
        l.running.site = queued->site;
    }
    l.takes.adapt(task.trace.begun);
    leave_out_hook(l, task);
    tell_begins(l, {on.rank(), task.id, task.trace.parent, l.running.name, l.running.site, false,
                    task.trace.begun});
}

/// Excludes the time of recording from the task, so that a task of about 2 us does not count as
/// long only because it was sampled.
void pool_hooks::leave_out_hook(const lane& l, task_record& task) noexcept {
    if (!l.takes.takes_all()) {
        task.trace.begun = quern::detail::ticks();
    }
}

void pool_hooks::pass_over(worker& on, task_record& task, context* resumed) noexcept {
    task.trace.begun = on.stats().since();
    if (resumed != nullptr) {
        resumed->ready = {};
    }
    lane& l = lane_of(on);
    if (l.item != nullptr) {
        l.item = nullptr;
    }
}

/// A context resumes where it was suspended. Any other item begins on the loop's own context.
void pool_hooks::on_begin(self which, worker& on, work& item, context* forked_by) {
    context* const resumed = forked_by == nullptr ? context::from(item) : nullptr;
    task_record& task = resumed != nullptr ? resumed->root().task() : present_task();
    if (resumed != nullptr) {
        of(which).lane_of(on).woken_at = resumed->ready.at;
    } else {
        task.trace = origin_of(on, item, forked_by);
        task.trace.weight = of(which).weigh(on);
    }
    if (task.trace.stands_for() == 0) {
        of(which).pass_over(on, task, resumed);
        return;
    }
    const visit v(which, on);
    if (!v) {
        return;
    }
    lane& l = v.at();
    if (resumed == nullptr) {
        v.whole().begin_task(l, on, item, forked_by);
        return;
    }
    v.whole().number(l, task);
    v.whole().begin_piece(l, task, on.stats().since(), std::exchange(resumed->ready, readiness{}));
    tell_begins(
        l, {on.rank(), task.id, task.trace.parent, task.name, task.site, true, task.trace.begun});
}

/// Ends a piece of a task that was queued.
void pool_hooks::end_of_piece(self which, worker& on, task_record& task, piece_end how) noexcept {
    const tick_count now = on.stats().since();
    const bool was_recorded = task.trace.stands_for() != 0;
    if (!was_recorded && !is_long(task, now)) {
        if (task.trace.is_inlined) {  // it and its outer task suspend
            if (const visit v(which, on); v) {
                v.at().is_running = false;
            }
        }
        return;
    }
    if (const visit v(which, on); v) {
        if (!was_recorded) {
            begin_late(v.at(), task);
        }
        v.whole().end_piece(v.at(), on.rank(), task, now, how);
    }
}

void pool_hooks::on_end(self which, worker& on) {
    task_record& task = present_task();
    end_of_piece(which, on, task, piece_end::ended);
    task.id = 0;  // the loop itself makes items ready, such as timers: no task is the cause
}

void pool_hooks::on_suspend(self which, worker& on) {
    end_of_piece(which, on, present_task(), piece_end::suspended);
}

/// The outer task's piece ends, and its next piece begins after the inner task. If the inner task
/// is not sampled, only the outer task's clock pauses.
void pool_hooks::on_inline_begin(self which, worker& on, task_record& outer, const runnable& item) {
    const tick_count now = quern::detail::ticks();
    task_record& task = present_task();
    task.trace = {.parent = task_of(item.ready) != 0 ? task_of(item.ready)
                                                     : static_cast<std::uint64_t>(outer.id),
                  .begun = now,
                  .weight = of(which).weigh_inlined(on, outer),
                  .is_inlined = true};
    const bool splits = task.trace.weight != 0 && outer.trace.stands_for() != 0;
    if (!splits) {
        outer.trace.spent = outer.trace.spent + (now - of(which).begin_of(outer));
    }
    if (task.trace.weight == 0) {
        return;
    }
    const visit v(which, on);
    if (!v) {
        return;
    }
    lane& l = v.at();
    if (splits) {
        v.whole().end_piece(l, on.rank(), outer, now, piece_end::covered);
    }
    v.whole().number(l, task);
    v.whole().begin_piece(l, task, now, item.ready, splits);
    if (!l.measures) {  // else the outer task decided the sampling
        l.takes.adapt(now);
    }
    leave_out_hook(l, task);
    l.cause = task.trace.parent;
    tell_begins(l, {on.rank(), task.id, task.trace.parent, item.name, item.site, false, now});
}

void pool_hooks::on_inline_end(self which, worker& on, task_record& outer) {
    const tick_count now = quern::detail::ticks();
    task_record& inner = present_task();
    outer.trace.begun = now;
    const bool was_split = inner.trace.stands_for() != 0;
    const bool is_recorded = was_split || is_long(inner, now);
    if (!is_recorded && inner.trace.pieces == 1) {
        return;
    }
    const visit v(which, on);
    if (!v) {
        return;
    }
    lane& l = v.at();
    if (!was_split) {
        begin_late(l, inner);
    }
    if (is_recorded) {
        v.whole().end_piece(l, on.rank(), inner, now, piece_end::ended);
    }
    if (outer.trace.stands_for() != 0) {
        v.whole().number(l, outer);
        v.whole().begin_piece(l, outer, now, {}, is_recorded && inner.trace.weight != 0);
        l.is_continued = was_split && inner.trace.pieces == 1;  // else both tasks waited
    }
}

}  // namespace quern::trace::detail
