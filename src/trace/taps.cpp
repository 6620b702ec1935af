// SPDX-License-Identifier: BSL-1.0
// The life of taps: which pool has which, who is attached, and when a pool goes on without.
#include "tap.hpp"

#include <quern/base/clock.hpp>

#include <mutex>
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
