// SPDX-License-Identifier: BSL-1.0
// The list of items that policies use: order, and removal from every place.
#include <quern/scheduler/ready_item.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <vector>

namespace {

using quern::ready_item;
using quern::ready_list;

class ready_list_test : public testing::Test {
protected:
    struct item : quern::detail::runnable {
        explicit item(int n) : runnable(nullptr), number(n) {}
        int number;
    };

    ready_item make(int n) { return ready_item(&m_items.emplace_back(n)); }
    ready_item nth(std::size_t n) { return ready_item(&m_items[n]); }
    void push_back(int count) {
        for (int n = 0; n < count; ++n) {
            list.push_back(make(n));
        }
    }

    std::vector<int> rest() {
        std::vector<int> all;
        while (const ready_item each = list.pop_front()) {
            all.push_back(static_cast<const item*>(each.get())->number);
        }
        EXPECT_TRUE(list.empty());
        EXPECT_EQ(list.size(), 0U);
        return all;
    }

    ready_list list;

private:
    std::deque<item> m_items;
};

TEST_F(ready_list_test, is_empty_at_first) {
    EXPECT_TRUE(list.empty());
    EXPECT_FALSE(list.pop_front());
    EXPECT_FALSE(list.remove(make(0)));
}

TEST_F(ready_list_test, takes_items_at_both_ends_and_gives_the_first) {
    push_back(2);
    list.push_front(make(2));
    EXPECT_EQ(list.size(), 3U);
    EXPECT_EQ(rest(), (std::vector{2, 0, 1}));
    list.push_front(make(3));
    list.push_back(make(4));
    EXPECT_EQ(rest(), (std::vector{3, 4}));
}

TEST_F(ready_list_test, gives_up_an_item_wherever_it_stands) {
    for (std::size_t at = 0; at < 3; ++at) {
        const std::size_t place = 4 * at + at;  // four items are made in each round
        std::vector<int> left{0, 1, 2, 9};
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
        push_back(3);
        EXPECT_TRUE(list.remove(nth(place)));
        EXPECT_FALSE(list.remove(nth(place)));
        list.push_back(make(9));
        EXPECT_EQ(rest(), left);
    }
}

TEST_F(ready_list_test, is_empty_when_its_only_item_is_removed) {
    push_back(1);
    EXPECT_TRUE(list.remove(nth(0)));
    push_back(1);
    EXPECT_EQ(rest(), (std::vector{0}));
}

}  // namespace
