// SPDX-License-Identifier: BSL-1.0
// The order in which a worker looks for its next item, and the turns that keep every place of items
// from being passed over for ever. Pure: tests/unit/scheduler/turn_order_test.cpp runs it on all
// sets of places that never become empty. Protocol: src/scheduler/README.md, section "Turns".
#pragma once

#include <quern/base/detail/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace quern::detail {

/// Where a worker finds items without a search at others.
enum class place : std::uint8_t {
    kept,      ///< what it keeps by its policy: its deque
    mailbox,   ///< what is for it, if it is free, for others later
    injector,  ///< from outside threads and timers, for any worker of the pool
    pinned,    ///< contexts that only it may resume
    forked,    ///< forked children of suspended tasks
    ranked,    ///< of another rank or priority than normal; others may take them too
};

/// Which place has the turn.
class turn_order {
public:
    /// Of so many items, one is of that place if it has any.
    static constexpr std::uint32_t k_pinned_interval = 2;
    static constexpr std::uint32_t k_timed_interval = 4;
    /// Prime, so that it does not fall into step with a pattern of the program.
    static constexpr std::uint32_t k_outside_interval = 61;
    /// Of these 61, the one in which the mailbox has its turn.
    static constexpr std::uint32_t k_mail_turn = 30;
    /// Prime, so that its turns meet those of all other intervals.
    static constexpr std::uint32_t k_ageing_interval = 509;
    /// Which place has the turn of the ageing interval, one after another. Every second one is of
    /// the ranks, since these are many: each rank in turn.
    static constexpr std::array k_ages = {
        place::ranked,   place::kept,   place::ranked, place::mailbox, place::ranked,
        place::injector, place::ranked, place::pinned, place::ranked,  place::forked};

    void begin_next() noexcept { ++m_turn; }
    /// Whether the next turn is one of all places but that of the successor.
    bool next_is_of_others() const noexcept {
        const std::uint32_t next = m_turn + 1;
        const std::uint32_t outside = next % k_outside_interval;
        return outside == 0 || outside == k_mail_turn || next % k_ageing_interval == 0;
    }

    /// Whether the turn is one of ageing: before anything else, whatever its priority.
    bool ages() const noexcept { return m_turn % k_ageing_interval == 0; }
    place ageing() const noexcept { return k_ages[m_turn / k_ageing_interval % k_ages.size()]; }

    /// Which place of normal priority has the turn; the first of the usual order where none has.
    place preferred(bool has_fired) const noexcept {
        const std::uint32_t outside = m_turn % k_outside_interval;
        if (outside == 0) {
            return place::injector;
        }
        if (outside == k_mail_turn) {
            return place::mailbox;
        }
        if (has_fired && m_turn % k_timed_interval == 1) {
            return place::injector;
        }
        return m_turn % k_pinned_interval == 0 ? place::pinned : place::kept;
    }

private:
    std::uint32_t m_turn = 0;
};

/// The first item of normal priority in the usual order, or null.
template <class Places>
QUERN_ALWAYS_INLINE auto take_usual(Places& from) noexcept {
    if (auto item = from.take(place::kept)) {
        return item;
    }
    if (auto item = from.take(place::mailbox)) {
        return item;
    }
    if (auto item = from.take(place::injector)) {
        return item;
    }
    if (auto item = from.take(place::pinned)) {
        return item;
    }
    return from.take(place::forked);
}

/// The next item, or null if all places are empty but for items of low priority. `Places` has
///
/// - `item* take(place)`: the next one, of normal priority or more, or null
/// - `item* take_oldest(place)`: the one that its order would give last, or null
/// - `item* take_ranked(bool high)`: the best of the ranks; high: only of high priority
/// - `item* take_below()`: of normal priority with a rank below 0
/// - `bool has(place)`, `bool has_ranks()`, `bool has_fired()`
template <class Places>
QUERN_ALWAYS_INLINE auto take_in_turn(const turn_order& turn, Places& from) noexcept
    -> decltype(from.take(place::kept)) {
    if (turn.ages()) [[unlikely]] {
        const place aged = turn.ageing();
        if (auto item = from.take_oldest(aged)) {
            return item;
        }
        if (aged != place::ranked) {
            if (auto item = detail::take_usual(from)) {
                return item;
            }
        }
    }
    const place preferred = turn.preferred(from.has_fired());
    if (from.has_ranks()) [[unlikely]] {
        if (auto item = from.take_ranked(preferred != place::kept && from.has(preferred))) {
            return item;
        }
    }
    if (preferred != place::kept) {
        if (auto item = from.take(preferred)) {
            return item;
        }
    }
    auto item = detail::take_usual(from);
    return item != nullptr || !from.has_ranks() ? item : from.take_below();
}

}  // namespace quern::detail
