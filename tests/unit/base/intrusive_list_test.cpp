// SPDX-License-Identifier: BSL-1.0
// The intrusive list: order, removal from any place, links of elements that are in no list.
#include <quern/base/detail/intrusive_list.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace {

using quern::detail::intrusive_list;
using quern::detail::list_link;

struct element : list_link {
    explicit element(int n) : number(n) {}
    int number;
};

std::vector<int> numbers_in(const intrusive_list<element>& list) {
    std::vector<int> numbers;
    for (element* e = list.front(); e != nullptr; e = list.after(*e)) {
        numbers.push_back(e->number);
    }
    return numbers;
}

TEST(intrusive_list, is_empty_at_first) {
    const intrusive_list<element> list;
    EXPECT_TRUE(list.empty());
    EXPECT_EQ(list.front(), nullptr);
}

TEST(intrusive_list, keeps_the_order_of_push_back) {
    intrusive_list<element> list;
    element a(1), b(2), c(3);
    list.push_back(a);
    list.push_back(b);
    list.push_back(c);
    EXPECT_EQ(numbers_in(list), (std::vector{1, 2, 3}));
    EXPECT_FALSE(list.empty());
}

TEST(intrusive_list, lets_any_element_leave) {
    for (int leaving = 0; leaving < 3; ++leaving) {
        intrusive_list<element> list;
        element elements[] = {element(0), element(1), element(2)};
        for (element& e : elements) {
            list.push_back(e);
        }
        intrusive_list<element>::erase(elements[leaving]);
        std::vector<int> rest{0, 1, 2};
        rest.erase(rest.begin() + leaving);
        EXPECT_EQ(numbers_in(list), rest);
    }
}

TEST(intrusive_list, clears_the_links_of_an_element_that_left) {
    intrusive_list<element> list;
    element a(1);
    EXPECT_EQ(a.next, nullptr);
    list.push_back(a);
    EXPECT_NE(a.next, nullptr);
    intrusive_list<element>::erase(a);
    EXPECT_EQ(a.previous, nullptr);
    EXPECT_EQ(a.next, nullptr);
    EXPECT_TRUE(list.empty());
}

TEST(intrusive_list, takes_an_element_again) {
    intrusive_list<element> one, other;
    element a(1), b(2);
    one.push_back(a);
    one.push_back(b);
    intrusive_list<element>::erase(a);
    other.push_back(a);
    intrusive_list<element>::erase(b);
    one.push_back(b);
    EXPECT_EQ(numbers_in(one), std::vector{2});
    EXPECT_EQ(numbers_in(other), std::vector{1});
}

}  // namespace
