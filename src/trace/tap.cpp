// SPDX-License-Identifier: BSL-1.0
// The hooks of tasks. Each takes the lock of its worker's lane, which nobody else wants but one
// who attaches or detaches: 5 ns, for which a sink is free to keep plain data. Where a task is
// passed over (sampling.hpp), none is taken: all that is kept of it is in its own record.
#include "tap_visit.hpp"

#include <quern/base/process.hpp>
#include <quern/scheduler/record_copy.hpp>
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

constexpr std::uint64_t k_ids_at_once = 1024;  ///< that a worker takes for its tasks (guessed)
constexpr int k_rank_bits = 16;
constexpr std::uint64_t k_rank_mask = (1U << k_rank_bits) - 1;
constexpr std::uint64_t k_no_rank = k_rank_mask - 1;

/// Who made it ready: the number of the task, if it has one, and the rank of the worker, from 1 on
/// so that it is never 0.
std::uint64_t doing_of(std::uint64_t task, std::uint64_t rank) noexcept {
    return (task << k_rank_bits) | (rank + 1);
}
bool is_known(const readiness& ready) noexcept { return ready.by != 0; }
std::uint64_t task_of(const readiness& ready) noexcept { return ready.by >> k_rank_bits; }
std::uint64_t rank_of(const readiness& ready) noexcept { return (ready.by & k_rank_mask) - 1; }

task_record& present_task() noexcept { return current_context()->root().task(); }

/// Who made a task that begins on this worker.
traced_task origin_of(const worker& on, const work& item, context* forked_by) noexcept {
    traced_task made;
    if (forked_by != nullptr) {
        made.parent = quern::detail::record_copy(*forked_by)->id;
        made.is_stolen = &forked_by->host() != &on;
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

void tap::number(lane& at, task_record& task) noexcept {
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

void tap::begin_piece(lane& at, task_record& task, tick_count now, const readiness& ready,
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

/// A copy, for who stops a recording looks at it while the record itself changes.
void tap::note_running(lane& at, const task_record& task) noexcept {
    at.is_running = true;
    at.running.name = task.name;
    at.running.site = task.site;
    at.running.entry = task.entry;
    at.running.id = task.id;
    at.running.trace = task.trace;
}

/// That takes as long as a short task, and is no part of this one.
void tap::measure(lane& at, task_record& task, bool adjoins) noexcept {
    for (sink* const s : at.sinks) {
        s->piece_begins(adjoins);
    }
    task.trace.begun = quern::detail::ticks();
}

/// A long task stands for itself alone: none is passed over.
void tap::end_piece(lane& at, std::uint32_t rank, task_record& task, tick_count now,
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

/// A piece of a task that is passed over ends. True: the task is long, and recorded after all.
bool tap::is_long(task_record& task, tick_count now) noexcept {
    const tick_count spent = task.trace.spent + (now - task.trace.begun);
    if (spent >= long_time()) {
        task.trace.is_long = true;
        return true;
    }
    task.trace.spent = spent;
    task.trace.pieces = task.trace.pieces + 1;
    return false;
}

/// What the lane knows is of a piece before: who woke a task that was passed over is not known.
void tap::begin_late(lane& at, const task_record& task) noexcept {
    at.is_continued = false;
    at.cause = task.trace.parent;
    at.ready_at = 0;
}

/// For how many the task stands that begins now on this worker; 0: it is passed over.
std::uint16_t tap::weigh(worker& on) noexcept {
    sampling& takes = lane_of(on).takes;
    return takes.takes_all() ? 1 : takes.weigh();
}

/// What is counted between two readings is counted for the outer task, also what a task does that
/// is passed over within it. So where somebody measures, both are chosen or none.
std::uint16_t tap::weigh_inlined(worker& on, const task_record& outer) noexcept {
    return lane_of(on).measures ? std::uint16_t{outer.trace.weight} : weigh(on);
}

void tap::on_made_ready(self which, pool& home, runnable& item) {
    tap& all = of(which);
    const task_record* const maker = [] {
        context* const root = quern::detail::task_root();
        return root != nullptr ? &root->task() : nullptr;
    }();
    const worker* const here = quern::detail::current_worker();
    const bool is_inside = here != nullptr && &here->home() == &home;
    lane& l = *all.m_lanes[is_inside ? here->rank() : all.outside()];
    item.ready = {doing_of(maker != nullptr ? static_cast<std::uint64_t>(maker->id) : 0,
                           is_inside ? here->rank() : k_no_rank),
                  l.takes.takes_all() || !item.staged ? quern::detail::ticks() : 0};
    if (all.m_want_made.load(std::memory_order_relaxed) == 0 || !item.staged) {
        return;
    }
    const std::scoped_lock lock(l.lock);
    for (sink* const s : l.sinks) {
        s->made(task_of(item.ready), item);
    }
}

void tap::tell_begins(lane& at, const beginning& begun) noexcept {
    for (sink* const s : at.sinks) {
        s->begins(begun);
    }
}

/// The first piece of a task; of a forked child when there is a context that forked it.
void tap::begin_task(lane& l, worker& on, work& item, context* forked_by) noexcept {
    task_record& task = present_task();
    if (l.item == &item) {  // on a larger stack now
        task.id = l.item_id;
    }
    number(l, task);
    l.item = &item;
    l.item_id = task.id;
    const auto* const queued = forked_by == nullptr ? static_cast<const runnable*>(&item) : nullptr;
    begin_piece(l, task, on.stats.since(), queued != nullptr ? queued->ready : readiness{});
    if (queued != nullptr) {  // it says so itself a moment later
        l.running.name = queued->name;
        l.running.site = queued->site;
    }
    l.takes.adapt(task.trace.begun);
    leave_out_hook(l, task);
    tell_begins(l, {on.rank(), task.id, task.trace.parent, l.running.name, l.running.site, false,
                    task.trace.begun});
}

/// Where a task of about 2 us may be passed over, whether it is long must not depend on that: what
/// its recording took so far is no part of it.
void tap::leave_out_hook(const lane& l, task_record& task) noexcept {
    if (!l.takes.takes_all()) {
        task.trace.begun = quern::detail::ticks();
    }
}

void tap::pass_over(worker& on, task_record& task, context* resumed) noexcept {
    task.trace.begun = on.stats.since();
    if (resumed != nullptr) {
        resumed->ready = {};
    }
    lane& l = lane_of(on);
    if (l.item != nullptr) {
        l.item = nullptr;
    }
}

/// A context goes on where it was; anything else begins on the loop's own context.
void tap::on_begin(self which, worker& on, work& item, context* forked_by) {
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
    v.whole().begin_piece(l, task, on.stats.since(), std::exchange(resumed->ready, readiness{}));
    tell_begins(
        l, {on.rank(), task.id, task.trace.parent, task.name, task.site, true, task.trace.begun});
}

/// Of a task that was queued.
void tap::end_of_piece(self which, worker& on, task_record& task, piece_end how) noexcept {
    const tick_count now = on.stats.since();
    const bool was_recorded = task.trace.stands_for() != 0;
    if (!was_recorded && !is_long(task, now)) {
        if (task.trace.is_inlined) {  // it suspends, and the task around it with it
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

void tap::on_end(self which, worker& on) {
    task_record& task = present_task();
    end_of_piece(which, on, task, piece_end::ended);
    task.id = 0;  // what the loop itself makes ready, such as timers, is no task's doing
}

void tap::on_suspend(self which, worker& on) {
    end_of_piece(which, on, present_task(), piece_end::suspended);
}

/// The piece of the outer task ends, and another one begins after the inner one. When the inner one
/// is passed over, the outer one's time merely stands still.
void tap::on_inline_begin(self which, worker& on, task_record& outer, const runnable& item) {
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
    if (!l.measures) {  // else it was not chosen by itself
        l.takes.adapt(now);
    }
    leave_out_hook(l, task);
    l.cause = task.trace.parent;
    tell_begins(l, {on.rank(), task.id, task.trace.parent, item.name, item.site, false, now});
}

void tap::on_inline_end(self which, worker& on, task_record& outer) {
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
        l.is_continued = was_split && inner.trace.pieces == 1;  // else both have waited together
    }
}

}  // namespace quern::trace::detail
