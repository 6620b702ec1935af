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

tap::tap(std::size_t lanes) {
    for (std::size_t i = 0; i <= lanes; ++i) {
        m_lanes.push_back(std::make_unique<lane>());
    }
    made_ready = on_made_ready;
    item_begins = on_begin;
    item_ends = on_end;
    suspends = on_suspend;
    inline_begins = on_inline_begin;
    inline_ends = on_inline_end;
    steals = on_steal;
    parks = on_park;
    unparks = on_unpark;
}

void tap::take_up(pool& which) noexcept {
    m_pool = &which;
    m_since.store(quern::detail::ticks(), std::memory_order_relaxed);
    for (std::uint32_t rank = 0; rank < which.size(); ++rank) {
        lane& l = *m_lanes[rank];
        const std::scoped_lock lock(l.lock);
        l.owner = &which.at(rank);
        l.is_running = false;
        l.item = nullptr;
        l.parked_at = 0;
    }
    which.hooks.store(this, std::memory_order_release);  // pairs with the loads in the loop
}

void tap::leave() noexcept {
    m_pool->hooks.store(nullptr, std::memory_order_release);
    for (const auto& l : m_lanes) {
        const std::scoped_lock lock(l->lock);
        l->owner = nullptr;
    }
    m_pool = nullptr;
}

void tap::attach(std::uint32_t rank, sink& to) {
    lane& l = *m_lanes[rank];
    const std::scoped_lock lock(l.lock);
    l.sinks.push_back(&to);
    ++m_attached;
    if (to.wants_made()) {
        m_want_made.fetch_add(1, std::memory_order_relaxed);
    }
}

void tap::detach(std::uint32_t rank, sink& from) noexcept {
    lane& l = *m_lanes[rank];
    const std::scoped_lock lock(l.lock);
    if (std::erase(l.sinks, &from) != 0) {
        --m_attached;
        if (from.wants_made()) {
            m_want_made.fetch_sub(1, std::memory_order_relaxed);
        }
    }
}

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

/// A context goes on where it was; anything else begins on the loop's own context.
void tap::on_begin(self which, worker& on, work& item, context* forked_by) {
    const visit v(which, on);
    if (!v) {
        return;
    }
    lane& l = v.at();
    context* const resumed = forked_by == nullptr ? context::from(item) : nullptr;
    task_record& task = resumed != nullptr ? resumed->root().task : present_task();
    readiness ready{};
    if (resumed != nullptr) {
        ready = std::exchange(resumed->ready, readiness{});
        l.item = nullptr;
    } else if (l.is_running && l.item == &item) {  // on a larger stack now
        task.id = l.item_id;
    } else {
        l.item = &item;
    }
    const runnable* const queued =
        resumed == nullptr && forked_by == nullptr ? static_cast<runnable*>(&item) : nullptr;
    v.whole().number(l, task);
    l.item_id = task.id;
    if (resumed == nullptr) {
        task.trace = {};
        if (forked_by != nullptr) {
            task.trace.parent = forked_by->root().task.id;
            task.trace.is_stolen = &forked_by->host() != &on;
        } else if (v.whole().is_known(queued->ready)) {
            ready = queued->ready;
            task.trace.parent = task_of(ready);
            task.trace.is_stolen = rank_of(ready) != k_no_rank && rank_of(ready) != on.rank();
        }
    }
    v.whole().begin_piece(l, on.stats.since(), ready);
    if (forked_by != nullptr) {
        l.cause = task.trace.parent;
    }
    const beginning begun{on.rank(),
                          task.id,
                          task.trace.parent,
                          queued != nullptr ? queued->name : static_cast<const char*>(task.name),
                          queued != nullptr ? queued->site : static_cast<const void*>(task.site),
                          resumed != nullptr,
                          l.begin};
    for (sink* const s : l.sinks) {
        s->begins(begun);
    }
}

void tap::on_end(self which, worker& on) {
    if (const visit v(which, on); v) {
        v.whole().end_piece(v.at(), on.rank(), present_task(), on.stats.since(), piece_end::ended);
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
    const beginning begun{on.rank(), task.id, task.trace.parent, item.name, item.site, false, now};
    for (sink* const s : l.sinks) {
        s->begins(begun);
    }
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

namespace {

/// All that were ever made.
std::vector<tap*>& all_taps() {
    static constinit std::vector<tap*>* all = nullptr;
    if (all == nullptr) {
        all = new std::vector<tap*>;
    }
    return *all;
}

}  // namespace

tap& tap_of(pool& which) {
    tap* free = nullptr;
    for (tap* const t : all_taps()) {
        if (t->of() == &which) {
            return *t;
        }
        if (t->of() == nullptr && t->lanes() >= which.size()) {
            free = t;
        }
    }
    if (free == nullptr) {
        all_taps().reserve(all_taps().size() + 1);
        free = new tap(which.size());
        all_taps().push_back(free);
    }
    free->take_up(which);
    return *free;
}

void release_if_idle(tap& one) noexcept {
    if (one.of() != nullptr && one.is_idle()) {
        one.leave();
    }
}

}  // namespace quern::trace::detail
