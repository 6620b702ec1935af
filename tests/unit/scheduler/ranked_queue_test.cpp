// SPDX-License-Identifier: BSL-1.0
// The queue in the order of urgency and rank: exact order, turns, and what it gives up.
#include <quern/scheduler/detail/ranked_queue.hpp>

#include <quern/base/detail/rng.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

namespace {

using quern::priority;
using quern::detail::k_no_key;
using quern::detail::key_of;
using quern::detail::order_key;
using quern::detail::ranked_queue;
using quern::detail::runnable;

class ranked_queue_test : public testing::Test {
protected:
    struct item : runnable {
        item(int n, priority p, std::int16_t r) : runnable(nullptr), number(n) {
            last_as({.urgency = p, .rank = r});
        }
        int number;
    };

    runnable& make(priority p, int rank) {
        return m_items.emplace_back(static_cast<int>(m_items.size()), p,
                                    static_cast<std::int16_t>(rank));
    }
    void push(priority p, int rank) { queue.push(make(p, rank)); }
    void push_ranks(std::initializer_list<int> ranks) {
        for (const int rank : ranks) {
            push(priority::normal, rank);
        }
    }
    static int number(const runnable* each) { return static_cast<const item*>(each)->number; }

    std::vector<int> rest(order_key floor = k_no_key) {
        std::vector<int> all;
        while (const runnable* const each = queue.pop_above(floor)) {
            all.push_back(number(each));
        }
        return all;
    }

    ranked_queue queue;

private:
    std::deque<item> m_items;
};

TEST_F(ranked_queue_test, is_empty_at_first) {
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(queue.best(), k_no_key);
    EXPECT_EQ(queue.pop_above(k_no_key), nullptr);
    EXPECT_EQ(queue.pop_in_turn(), nullptr);
    EXPECT_EQ(queue.take_empty(), nullptr);
    EXPECT_TRUE(queue.pop_several_above(k_no_key, 3).empty());
}

TEST_F(ranked_queue_test, gives_the_larger_rank_first_and_the_oldest_within_it) {
    push_ranks({3, 1'000, 3, -7, 0, 3, 1'000});
    EXPECT_EQ(queue.best(), key_of(priority::normal, 1'000));
    EXPECT_EQ(queue.size(), 7U);
    EXPECT_EQ(rest(), (std::vector{1, 6, 0, 2, 5, 4, 3}));
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(queue.size(), 0U);
}

TEST_F(ranked_queue_test, puts_urgency_before_every_rank) {
    constexpr int k_most = std::numeric_limits<std::int16_t>::max();
    constexpr int k_least = std::numeric_limits<std::int16_t>::min();
    push(priority::low, k_most);
    push(priority::normal, k_least);
    push(priority::normal, k_most);
    push(priority::high, k_least);
    push(priority::low, k_least);
    push(priority::high, k_most);
    EXPECT_EQ(rest(), (std::vector{5, 3, 2, 1, 0, 4}));
}

TEST_F(ranked_queue_test, gives_nothing_at_or_below_the_floor) {
    push_ranks({5, 6, 7});
    EXPECT_EQ(rest(key_of(priority::normal, 6)), (std::vector{2}));
    EXPECT_EQ(rest(key_of(priority::normal, 4)), (std::vector{1, 0}));
    EXPECT_EQ(quern::detail::k_above_low, key_of(priority::normal, -32'768) - 1);
    EXPECT_EQ(quern::detail::k_above_normal, key_of(priority::high, -32'768) - 1);
}

TEST_F(ranked_queue_test, gives_several_in_their_order) {
    push_ranks({5, 9, 7, 5});
    quern::ready_list several = queue.pop_several_above(key_of(priority::normal, 4), 3);
    EXPECT_EQ(several.size(), 3U);
    for (const int expected : {1, 2, 0}) {
        EXPECT_EQ(number(several.pop_front().get()), expected);
    }
    EXPECT_EQ(rest(), (std::vector{3}));
}

TEST_F(ranked_queue_test, gives_each_rank_its_turn_whatever_is_pushed) {
    push_ranks({10, 300, 10, -500, 10});
    std::vector<int> turns;
    for (int i = 0; i < 4; ++i) {
        turns.push_back(number(queue.pop_in_turn()));
        push_ranks({300});
    }
    EXPECT_EQ(turns, (std::vector{1, 0, 3, 5}));
}

TEST_F(ranked_queue_test, gives_up_empty_entries_alone) {
    std::vector<runnable*> all;
    for (const int rank : {4, 1'000, 4, -4, 1'000}) {
        queue.push(*all.emplace_back(&make(priority::normal, rank)));
    }
    all[1]->begun = all[2]->begun = all[3]->begun = true;
    std::vector<int> empty;
    for (const runnable* each = queue.take_empty(); each != nullptr; each = each->next) {
        empty.push_back(number(each));
    }
    std::sort(empty.begin(), empty.end());
    EXPECT_EQ(empty, (std::vector{1, 2, 3}));
    EXPECT_EQ(queue.size(), 2U);
    EXPECT_EQ(queue.best(), key_of(priority::normal, 1'000));
    EXPECT_EQ(rest(), (std::vector{4, 0}));
}

TEST_F(ranked_queue_test, is_a_stable_sort_of_random_items) {
    quern::detail::rng random(7);
    std::vector<std::pair<order_key, int>> expected;
    quern::detail::ready_batch batch;
    for (int i = 0; i < 5'000; ++i) {
        const auto urgency = static_cast<priority>(random.below(3));
        const int rank = static_cast<int>(random.below(i % 2 == 0 ? 40 : 65'536)) - 32'768;
        batch.add(make(urgency, rank));
        expected.emplace_back(-key_of(urgency, rank), i);
    }
    queue.push(batch);
    EXPECT_TRUE(batch.empty());
    std::sort(expected.begin(), expected.end());
    std::vector<int> order;
    for (const auto& [key, i] : expected) {
        order.push_back(i);
    }
    EXPECT_EQ(rest(), order);
}

}  // namespace
