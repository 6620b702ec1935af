// SPDX-License-Identifier: BSL-1.0
// The hooks themselves. Each takes the lock of its worker's lane, which nobody else wants but one
// who attaches or detaches: 5 ns, for which a sink is free to keep plain data.
#include "tap.hpp"

#include <quern/base/process.hpp>
#include <quern/scheduler/worker.hpp>
#include <quern/task/this_task.hpp>

#include <algorithm>
#include <mutex>

namespace quern::trace::detail {

namespace {

using quern::detail::context;
using quern::detail::current_context;
using quern::detail::runnable;
using quern::detail::work;

constexpr std::uint64_t k_ids_at_once = 1024;  ///< that a worker takes for its tasks (guessed)
constexpr int k_rank_bits = 16;
constexpr std::uint64_t k_no_rank = (1U << k_rank_bits) - 1;

std::uint64_t task_of(const readiness& ready) noexcept { return ready.by >> k_rank_bits; }
std::uint64_t rank_of(const readiness& ready) noexcept { return ready.by & k_no_rank; }

task_record& present_task() noexcept { return current_context()->root().task; }

}  // namespace

/// The lane of a worker, locked; null when the tap has left the worker's pool.
class tap::visit {
public:
    visit(self which, worker& on) noexcept : m_tap(of(which)) {
        if (on.rank() < m_tap.lanes()) {
            lane& l = *m_tap.m_lanes[on.rank()];
            l.lock.lock();
            m_lane = &l;
            m_is_mine = l.owner == &on;
        }
    }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;
    ~visit() {
        if (m_lane != nullptr) {
            m_lane->lock.unlock();
        }
    }

    explicit operator bool() const noexcept { return m_is_mine; }
    lane& at() const noexcept { return *m_lane; }
    tap& whole() const noexcept { return m_tap; }

private:
    tap& m_tap;
    lane* m_lane = nullptr;
    bool m_is_mine = false;
};

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

void tap::begin_piece(lane& at, tick_count now, const readiness& ready) noexcept {
    const bool known = is_known(ready);
    at.is_running = true;
    at.is_continued = false;
    at.begin = now;
    at.cause = known ? task_of(ready) : 0;
    at.ready_at = known ? ready.at : 0;
}

void tap::end_piece(lane& at, std::uint32_t rank, task_record& task, tick_count now,
                    piece_end how) noexcept {
    if (!at.is_running) {  // it began before anybody was attached
        begin_piece(at, m_since.load(std::memory_order_relaxed), {});
    }
    number(at, task);
    at.is_running = false;
    task.trace.spent += now - at.begin;
    ++task.trace.pieces;
    const piece ended{rank, at.begin, now, at.cause, at.ready_at, at.is_continued, how, task};
    for (sink* const s : at.sinks) {
        s->piece_ends(ended);
    }
}

void tap::on_made_ready(self which, pool& home, runnable& item) {
    tap& all = of(which);
    const task_record* const maker = [] {
        context* const root = quern::detail::task_root();
        return root != nullptr ? &root->task : nullptr;
    }();
    const worker* const here = quern::detail::current_worker();
    const bool is_inside = here != nullptr && &here->home() == &home;
    const std::uint64_t task = maker != nullptr ? static_cast<std::uint64_t>(maker->id) : 0;
    item.ready = {(task << k_rank_bits) | (is_inside ? here->rank() : k_no_rank),
                  quern::detail::ticks()};
    if (all.m_want_made.load(std::memory_order_relaxed) == 0 || !item.staged) {
        return;
    }
    lane& l = *all.m_lanes[is_inside ? here->rank() : all.outside()];
    const std::scoped_lock lock(l.lock);
    for (sink* const s : l.sinks) {
        s->made(task, item);
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
    if (l.is_running && l.item == &item) {  // on a larger stack now
        task.id = l.item_id;
    }
    number(l, task);
    l.item = &item;
    l.item_id = task.id;
    task.trace = {};
    const auto* const queued = forked_by == nullptr ? static_cast<const runnable*>(&item) : nullptr;
    readiness ready{};
    if (forked_by != nullptr) {
        task.trace.parent = forked_by->root().task.id;
        task.trace.is_stolen = &forked_by->host() != &on;
    } else if (is_known(queued->ready)) {
        ready = queued->ready;
        task.trace.parent = task_of(ready);
        task.trace.is_stolen = rank_of(ready) != k_no_rank && rank_of(ready) != on.rank();
    }
    begin_piece(l, on.stats.since(), ready);
    tell_begins(l,
                {on.rank(), task.id, task.trace.parent, queued != nullptr ? queued->name : nullptr,
                 queued != nullptr ? queued->site : nullptr, false, l.begin});
}

/// A context goes on where it was; anything else begins on the loop's own context.
void tap::on_begin(self which, worker& on, work& item, context* forked_by) {
    const visit v(which, on);
    if (!v) {
        return;
    }
    lane& l = v.at();
    context* const resumed = forked_by == nullptr ? context::from(item) : nullptr;
    if (resumed == nullptr) {
        v.whole().begin_task(l, on, item, forked_by);
        return;
    }
    task_record& task = resumed->root().task;
    v.whole().number(l, task);
    l.item = nullptr;
    v.whole().begin_piece(l, on.stats.since(), std::exchange(resumed->ready, readiness{}));
    tell_begins(l, {on.rank(), task.id, task.trace.parent, task.name, task.site, true, l.begin});
}

void tap::on_end(self which, worker& on) {
    if (const visit v(which, on); v) {
        task_record& task = present_task();
        v.whole().end_piece(v.at(), on.rank(), task, on.stats.since(), piece_end::ended);
        task.id = 0;  // what the loop itself makes ready, such as timers, is no task's doing
    }
}

void tap::on_suspend(self which, worker& on) {
    if (const visit v(which, on); v) {
        v.whole().end_piece(v.at(), on.rank(), present_task(), on.stats.since(),
                            piece_end::suspended);
    }
}

void tap::on_inline_begin(self which, worker& on, task_record& outer, const runnable& item) {
    const visit v(which, on);
    if (!v) {
        return;
    }
    lane& l = v.at();
    const tick_count now = quern::detail::ticks();
    v.whole().end_piece(l, on.rank(), outer, now, piece_end::covered);
    task_record& task = present_task();
    v.whole().number(l, task);
    const bool known = v.whole().is_known(item.ready) && task_of(item.ready) != 0;
    task.trace = {.parent = known ? task_of(item.ready) : static_cast<std::uint64_t>(outer.id),
                  .is_inlined = true};
    v.whole().begin_piece(l, now, item.ready);
    l.cause = task.trace.parent;
    l.item = nullptr;
    tell_begins(l, {on.rank(), task.id, task.trace.parent, item.name, item.site, false, now});
}

void tap::on_inline_end(self which, worker& on, task_record& outer) {
    const visit v(which, on);
    if (!v) {
        return;
    }
    lane& l = v.at();
    const tick_count now = quern::detail::ticks();
    const task_record& inner = present_task();
    v.whole().end_piece(l, on.rank(), present_task(), now, piece_end::ended);
    v.whole().number(l, outer);
    v.whole().begin_piece(l, now, {});
    l.is_continued = inner.trace.pieces == 1;  // else both have waited together
}

void tap::on_described(self which, worker& on, tick_count spent) {
    if (const visit v(which, on); v) {
        for (sink* const s : v.at().sinks) {
            s->described(on.rank(), spent);
        }
    }
}

void tap::on_steal(self which, worker& thief, worker& victim) {
    if (const visit v(which, thief); v) {
        for (sink* const s : v.at().sinks) {
            s->stole(thief.rank(), victim.rank(), quern::detail::ticks());
        }
    }
}

void tap::on_park(self which, worker& on) {
    if (const visit v(which, on); v) {
        v.at().parked_at = quern::detail::ticks();
    }
}

void tap::on_unpark(self which, worker& on) {
    const visit v(which, on);
    if (!v || v.at().parked_at == 0) {
        return;
    }
    const tick_count since = std::exchange(v.at().parked_at, tick_count{0});
    for (sink* const s : v.at().sinks) {
        s->parked(on.rank(), since, quern::detail::ticks());
    }
}

}  // namespace quern::trace::detail
