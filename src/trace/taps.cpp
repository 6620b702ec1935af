// SPDX-License-Identifier: BSL-1.0
// The life of taps: which pool has which, who is attached, and when a pool goes on without.
#include "registry.hpp"

#include <quern/base/clock.hpp>
#include <quern/base/process.hpp>

#include <mutex>
#include <utility>
#include <vector>

namespace quern::trace::detail {

tap::tap(std::size_t lanes) {
    for (std::size_t i = 0; i <= lanes; ++i) {
        m_lanes.push_back(std::make_unique<lane>());
    }
    made_ready = on_made_ready;
    item_begins = on_begin;
    item_ends = on_end;
    suspends = on_suspend;
    waited = on_waited;
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
        l.item = nullptr;
        l.is_running = false;
        l.is_continued = false;
        l.cause = 0;
        l.ready_at = 0;
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
    aim(l);
    ++m_attached;
    if (to.wants_made()) {
        m_want_made.fetch_add(1, std::memory_order_relaxed);
    }
}

/// A recording that stops shows the tasks that run then, up to now: the worker cannot end its piece
/// meanwhile, for that takes the lane's lock. Of tasks that are passed over, the caller's own
/// alone.
void tap::show_unfinished(const lane& l, std::uint32_t rank, sink& to) const noexcept {
    const worker* const here = quern::detail::current_worker();
    const bool is_own = here != nullptr && l.owner == here;
    if (!is_own && !l.is_running) {
        return;
    }
    task_record task = is_own ? quern::detail::current_context()->root().task() : l.running;
    task.trace.pieces = task.trace.pieces + 1;
    to.piece_ends({rank, begin_of(task), quern::detail::ticks(), l.cause, l.ready_at,
                   l.is_continued, piece_end::covered, task});
}

/// As many as the one wants who wants most.
void tap::aim(lane& at) noexcept {
    std::uint32_t wanted = at.sinks.empty() ? sampling::k_all : sampling::k_auto;
    at.measures = false;
    for (const sink* const s : at.sinks) {
        at.measures = at.measures || s->measures();
        const std::uint32_t its = s->sampling();
        wanted = wanted == sampling::k_auto || its == sampling::k_auto ? std::max(wanted, its)
                                                                       : std::min(wanted, its);
    }
    at.takes.aim(wanted, at.measures ? sampling::k_measured : 1);
}

void tap::detach(std::uint32_t rank, sink& from) noexcept {
    lane& l = *m_lanes[rank];
    const std::scoped_lock lock(l.lock);
    if (std::erase(l.sinks, &from) != 0) {
        --m_attached;
        aim(l);
        show_unfinished(l, rank, from);
        if (from.wants_made()) {
            m_want_made.fetch_sub(1, std::memory_order_relaxed);
        }
    }
}

namespace {

constinit registry* g_registry = nullptr;

/// After the last runtime; but workers that the process has left behind may be in a hook.
[[gnu::destructor(quern::detail::k_after_static_objects)]] void forget() {
    const std::scoped_lock lock(quern::detail::lock_of(quern::detail::process_lock::trace));
    if (g_registry == nullptr || !g_registry->pools.empty() || g_registry->has_left_workers) {
        return;
    }
    for (const tap* const t : g_registry->taps) {
        delete t;
    }
    delete std::exchange(g_registry, nullptr);
}

}  // namespace

registry& registry::of_process() {
    if (g_registry == nullptr) {
        g_registry = new registry;
    }
    return *g_registry;
}

tap& tap_of(pool& which) {
    std::vector<tap*>& all = registry::of_process().taps;
    tap* free = nullptr;
    for (tap* const t : all) {
        if (t->of() == &which) {
            return *t;
        }
        if (t->of() == nullptr && t->lanes() >= which.size()) {
            free = t;
        }
    }
    if (free == nullptr) {
        all.reserve(all.size() + 1);
        free = new tap(which.size());
        all.push_back(free);
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
