// SPDX-License-Identifier: BSL-1.0
// Lifetime of all hooks: the hooks of each pool, their attached sinks, and their removal from an
// idle pool.
#include "record/registry.hpp"

#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/process.hpp>

#include <mutex>
#include <utility>
#include <vector>

namespace quern::trace::detail {

pool_hooks::pool_hooks(std::size_t lanes) {
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

void pool_hooks::take_up(pool& which) noexcept {
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
    which.set_hooks(this);  // pairs with the loads in the loop
}

void pool_hooks::leave() noexcept {
    m_pool->set_hooks(nullptr);
    for (const auto& l : m_lanes) {
        const std::scoped_lock lock(l->lock);
        l->owner = nullptr;
    }
    m_pool = nullptr;
}

void pool_hooks::attach(std::uint32_t rank, sink& to) {
    lane& l = *m_lanes[rank];
    const std::scoped_lock lock(l.lock);
    l.sinks.push_back(&to);
    aim(l);
    ++m_attached;
}

/// A recording that stops shows the tasks that are running, up to now. The worker cannot end its
/// piece meanwhile, because that takes the lane's lock. Of unsampled running tasks, only the
/// caller's own is shown.
void pool_hooks::show_unfinished(const lane& l, std::uint32_t rank, sink& to) const noexcept {
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

/// Sets the sampling of the lane to that of the attached sink that wants the most tasks.
void pool_hooks::aim(lane& at) noexcept {
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

void pool_hooks::detach(std::uint32_t rank, sink& from) noexcept {
    lane& l = *m_lanes[rank];
    const std::scoped_lock lock(l.lock);
    if (std::erase(l.sinks, &from) != 0) {
        --m_attached;
        aim(l);
        show_unfinished(l, rank, from);
    }
}

namespace {

constinit registry* g_registry = nullptr;

/// Runs after the last runtime. Frees nothing if workers left behind may still be in a hook.
[[gnu::destructor(quern::detail::k_after_static_objects)]] void forget() {
    const std::scoped_lock lock(quern::detail::lock_of(quern::detail::process_lock::trace));
    if (g_registry == nullptr || !g_registry->pools.empty() || g_registry->has_left_workers) {
        return;
    }
    for (const pool_hooks* const t : g_registry->all_hooks) {
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

pool_hooks& hooks_of(pool& which) {
    std::vector<pool_hooks*>& all = registry::of_process().all_hooks;
    pool_hooks* free = nullptr;
    for (pool_hooks* const t : all) {
        if (t->of() == &which) {
            return *t;
        }
        if (t->of() == nullptr && t->lanes() >= which.size()) {
            free = t;
        }
    }
    if (free == nullptr) {
        all.reserve(all.size() + 1);
        free = new pool_hooks(which.size());
        all.push_back(free);
    }
    free->take_up(which);
    return *free;
}

void release_if_idle(pool_hooks& one) noexcept {
    if (one.of() != nullptr && one.is_idle()) {
        one.leave();
    }
}

}  // namespace quern::trace::detail
