// SPDX-License-Identifier: BSL-1.0
// The queue with two ends: orders at both, taking several, growth with wrapped content.
#include <quern/scheduler/detail/ready_ring.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <thread>
#include <vector>

namespace {

using quern::detail::ready_ring;
using quern::detail::runnable;

struct item : runnable {
    explicit item(int n)
        : runnable(
              [](quern::detail::work&) { return static_cast<quern::detail::context*>(nullptr); }),
          number(n) {}
    int number;
};

class ready_ring_test : public testing::Test {
protected:
    runnable& make(int number) { return m_items.emplace_back(number); }

    void push(int first, int last) {
        for (int i = first; i <= last; ++i) {
            ring.push(make(i));
        }
    }

    static int number(const runnable* r) {
        return r != nullptr ? static_cast<const item*>(r)->number : -1;
    }

    static std::vector<int> numbers(quern::ready_list list) {
        std::vector<int> all;
        while (const quern::ready_item each = list.pop_front()) {
            all.push_back(number(each.get()));
        }
        return all;
    }

    ready_ring ring;

private:
    std::deque<item> m_items;
};

TEST_F(ready_ring_test, is_empty_at_first) {
    EXPECT_TRUE(ring.empty());
    EXPECT_EQ(ring.pop_youngest(), nullptr);
    EXPECT_EQ(ring.pop_oldest(), nullptr);
    EXPECT_TRUE(ring.take_oldest(0).empty());
}

TEST_F(ready_ring_test, gives_from_both_ends) {
    push(1, 4);
    EXPECT_EQ(number(ring.pop_youngest()), 4);
    EXPECT_EQ(number(ring.pop_oldest()), 1);
    ring.push_oldest(make(0));
    EXPECT_EQ(number(ring.pop_oldest()), 0);
    EXPECT_EQ(number(ring.pop_oldest()), 2);
    EXPECT_FALSE(ring.empty());
    EXPECT_EQ(number(ring.pop_youngest()), 3);
    EXPECT_TRUE(ring.empty());
}

TEST_F(ready_ring_test, gives_the_oldest_half_rounded_up_as_a_chain) {
    push(1, 5);
    EXPECT_EQ(numbers(ring.take_oldest(0)), (std::vector{1, 2, 3}));
    EXPECT_EQ(numbers(ring.take_oldest(0)), (std::vector{4}));
    EXPECT_EQ(numbers(ring.take_oldest(0)), (std::vector{5}));
    EXPECT_TRUE(ring.empty());
}

TEST_F(ready_ring_test, gives_no_more_than_are_wanted_and_there) {
    push(1, 5);
    EXPECT_EQ(numbers(ring.take_oldest(2)), (std::vector{1, 2}));
    EXPECT_EQ(numbers(ring.take_oldest(9)), (std::vector{3, 4, 5}));
}

TEST_F(ready_ring_test, keeps_the_order_when_it_grows_while_wrapped_round) {
    push(0, 49);
    for (int i = 0; i < 40; ++i) {
        EXPECT_EQ(number(ring.pop_oldest()), i);
    }
    ring.push_oldest(make(39));
    push(50, 999);
    for (int i = 39; i < 1000; ++i) {
        EXPECT_EQ(number(ring.pop_oldest()), i);
    }
    EXPECT_TRUE(ring.empty());
}

TEST_F(ready_ring_test, gives_every_item_once_to_many_threads) {
    constexpr int k_items = 4'000;
    std::vector<std::atomic<int>> given(k_items);
    std::deque<item> items;
    for (int i = 0; i < k_items; ++i) {
        items.emplace_back(i);
    }
    std::atomic<int> left{k_items};
    const auto take = [&](auto&& from) {
        while (left.load() > 0) {
            quern::ready_list taken = from();
            while (const quern::ready_item each = taken.pop_front()) {
                given[static_cast<std::size_t>(number(each.get()))].fetch_add(1);
                left.fetch_sub(1);
            }
            std::this_thread::yield();
        }
    };
    const auto youngest = [this] {
        quern::ready_list one;
        if (runnable* const r = ring.pop_youngest()) {
            one.push_back(quern::ready_item(r));
        }
        return one;
    };
    std::thread thief(take, [this] { return ring.take_oldest(0); });
    std::thread owner(take, youngest);
    for (item& i : items) {
        ring.push(i);
    }
    thief.join();
    owner.join();
    for (const auto& count : given) {
        EXPECT_EQ(count.load(), 1);
    }
}

}  // namespace
