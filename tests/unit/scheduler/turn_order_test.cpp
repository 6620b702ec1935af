// SPDX-License-Identifier: BSL-1.0
// The order of a worker's places, run on all sets of places that never become empty: none of them
// is passed over for longer than the table of turns says.
#include <quern/scheduler/detail/turn_order.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <string>

namespace {

using quern::detail::place;
using quern::detail::turn_order;

/// The places of normal priority, and four ranks: high priority, above 0, below 0, low priority.
constexpr unsigned k_places = 5;
constexpr unsigned k_ranks = 4;
constexpr unsigned k_kinds = k_places + k_ranks;
constexpr unsigned k_high = 5;
constexpr unsigned k_above = 6;
constexpr unsigned k_below = 7;

/// Places that always have another item. An item is known only by where it comes from.
class endless_places {
public:
    explicit endless_places(unsigned set, bool fires, bool ages = true)
        : m_set(set), m_fires(fires), m_ages(ages) {}

    const unsigned* take(place from) const noexcept { return item(static_cast<unsigned>(from)); }
    const unsigned* take_oldest(place from) noexcept {
        if (!m_ages) {
            return nullptr;
        }
        if (from != place::ranked) {
            return take(from);
        }
        for (unsigned i = 0; i < k_ranks; ++i) {  // each rank in turn, as ranked_queue has it
            m_rank = (m_rank + 1) % k_ranks;
            if (const unsigned* const found = item(k_places + m_rank)) {
                return found;
            }
        }
        return nullptr;
    }
    const unsigned* take_ranked(bool only_high) const noexcept {
        const unsigned* const high = item(k_high);
        return high != nullptr || only_high ? high : item(k_above);
    }
    const unsigned* take_below() const noexcept { return item(k_below); }
    bool has(place of) const noexcept { return take(of) != nullptr; }
    bool has_ranks() const noexcept { return m_set >> k_places != 0; }
    bool has_fired() const noexcept { return m_fires; }

private:
    const unsigned* item(unsigned kind) const noexcept {
        static constexpr std::array<unsigned, k_kinds> k_all{0, 1, 2, 3, 4, 5, 6, 7, 8};
        return (m_set >> kind & 1U) != 0 ? &k_all[kind] : nullptr;
    }

    unsigned m_set;
    bool m_fires;
    bool m_ages;
    unsigned m_rank = 0;
};

/// The most turns that each kind has waited in that many turns.
std::array<std::uint32_t, k_kinds> longest_waits(endless_places from, std::uint32_t turns,
                                                 bool has_successor) {
    std::array<std::uint32_t, k_kinds> last{};
    std::array<std::uint32_t, k_kinds> longest{};
    turn_order order;
    for (std::uint32_t now = 1; now <= turns; ++now) {
        const bool is_others =
            order.next_is_of_others() || from.has_fired() || from.has(place::pinned);
        order.begin_next();
        if (has_successor && !is_others) {
            continue;
        }
        if (const unsigned* const kind = quern::detail::take_in_turn(order, from)) {
            longest[*kind] = std::max(longest[*kind], now - last[*kind]);
            last[*kind] = now;
        }
    }
    for (unsigned kind = 0; kind < k_kinds; ++kind) {
        longest[kind] = std::max(longest[kind], turns - last[kind]);
    }
    return longest;
}

constexpr auto k_age = turn_order::k_ageing_interval;
constexpr auto k_round = static_cast<std::uint32_t>(k_age * turn_order::k_ages.size());

/// What the table of turns says: a place of normal priority has one turn in each round, every
/// second turn is one of the ranks, which take turns.
std::uint32_t bound_of(unsigned kind, unsigned set) {
    const auto ranks = static_cast<std::uint32_t>(std::popcount(set >> k_places));
    return kind < k_places ? k_round : 2 * k_age * ranks;
}

void expect_bounded(unsigned set, bool fires, bool has_successor, std::uint32_t turns) {
    const auto waits = longest_waits(endless_places(set, fires), turns, has_successor);
    for (unsigned kind = 0; kind < k_kinds; ++kind) {
        if ((set >> kind & 1U) != 0) {
            EXPECT_LE(waits[kind], bound_of(kind, set))
                << "place " << kind << " of the set " << set << (fires ? ", timers fire" : "")
                << (has_successor ? ", endless successors" : "");
        }
    }
}

TEST(turn_order, passes_over_no_place_whatever_the_others_hold) {
    for (unsigned set = 1; set < 1U << k_kinds; ++set) {
        for (const bool fires : {false, true}) {
            for (const bool has_successor : {false, true}) {
                // A chain of successors is in the deque when it stands back.
                expect_bounded(has_successor ? set | 1U : set, fires, has_successor, 3 * k_round);
            }
        }
    }
}

TEST(turn_order, passes_over_no_place_in_a_whole_period_of_all_turns) {
    constexpr unsigned k_all = (1U << k_kinds) - 1;
    constexpr std::uint32_t k_period =
        k_round * turn_order::k_outside_interval * turn_order::k_timed_interval;
    for (const bool fires : {false, true}) {
        expect_bounded(k_all, fires, false, k_period);
        expect_bounded(k_all, fires, true, k_period);
    }
}

TEST(turn_order, gives_work_from_outside_and_mail_a_turn_in_each_61) {
    const auto waits = longest_waits(endless_places(0b0'0111, false), 3 * k_round, false);
    EXPECT_LE(waits[static_cast<unsigned>(place::injector)], 61U);
    EXPECT_LE(waits[static_cast<unsigned>(place::mailbox)], 61U);
    const auto beside = longest_waits(endless_places(0b0'0111, false), 3 * k_round, true);
    EXPECT_LE(beside[static_cast<unsigned>(place::injector)], 61U);
    EXPECT_LE(beside[static_cast<unsigned>(place::mailbox)], 61U);
}

TEST(turn_order, alternates_with_pinned_tasks) {
    const auto waits = longest_waits(endless_places(0b0'1001, false), 3 * k_round, false);
    EXPECT_LE(waits[static_cast<unsigned>(place::pinned)], 4U);
    EXPECT_LE(waits[static_cast<unsigned>(place::kept)], 4U);
}

/// Without ageing some place is never reached: the bounds are not those of the usual order.
TEST(turn_order, would_starve_places_without_ageing) {
    constexpr std::uint32_t k_turns = 3 * k_round;
    const auto waits = longest_waits(endless_places(0b1'0001, false, false), k_turns, false);
    EXPECT_EQ(waits[static_cast<unsigned>(place::forked)], k_turns);
}

}  // namespace
