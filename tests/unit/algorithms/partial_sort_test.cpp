// SPDX-License-Identifier: BSL-1.0
// nth_element, partial_sort and partial_sort_copy find the elements that those of the standard
// find.
#include <quern/algorithms/partial_sort.hpp>

#include "unit/algorithms/sorting_data.hpp"

#include <cstddef>
#include <functional>
#include <list>
#include <set>

namespace {

using numbers = std::vector<int>;
using quern_test::owned;
using quern_test::sorted;

class selecting : public quern_test::on_policies {
protected:
    /// Calls check(run, data, k, sorted data) with data of every order, for every policy.
    template <class Check>
    void for_places(Check check) {
        inside([&] {
            for (const std::size_t n : {0UL, 1UL, 2UL, 30UL, 1'000UL, quern_test::k_long}) {
                for (const numbers& data : quern_test::orders(n)) {
                    const numbers expected = sorted(data);
                    for (const std::size_t k :
                         std::set<std::size_t>{0, std::min<std::size_t>(n, 5), n / 3, n}) {
                        quern_test::for_policies_with(n, [&](const auto& run) {
                            check(run, data, static_cast<std::ptrdiff_t>(k), expected);
                        });
                    }
                }
            }
        });
    }
};
QUERN_ON_1_2_8_WORKERS(selecting);

TEST_P(selecting, nth_element_puts_an_element_into_its_place) {
    for_places([](const auto& run, const numbers& data, auto k, const numbers& expected) {
        numbers x = data;
        const auto nth = x.begin() + k;
        run([&](auto how) { return quern::nth_element(how, x.begin(), nth, x.end()); });
        if (nth != x.end()) {
            EXPECT_EQ(*nth, expected[static_cast<std::size_t>(k)]);
            EXPECT_TRUE(std::all_of(x.begin(), nth, [nth](int e) { return e <= *nth; }));
            EXPECT_TRUE(std::all_of(nth, x.end(), [nth](int e) { return e >= *nth; }));
        }
        EXPECT_EQ(sorted(x), expected);
    });
}

TEST_P(selecting, partial_sort_sorts_the_least_elements) {
    for_places([](const auto& run, const numbers& data, auto k, const numbers& expected) {
        numbers x = data;
        run([&](auto how) { return quern::partial_sort(how, x, x.begin() + k); });
        EXPECT_TRUE(std::equal(x.begin(), x.begin() + k, expected.begin()));
        EXPECT_EQ(sorted(x), expected);
    });
}

TEST_P(selecting, partial_sort_copy_copies_the_least_elements) {
    for_places([](const auto& run, const numbers& data, auto k, const numbers& expected) {
        numbers out(static_cast<std::size_t>(k) + 2, -7);
        const auto found = std::min(data.size(), out.size());
        const auto end = run([&](auto how) { return quern::partial_sort_copy(how, data, out); });
        EXPECT_EQ(static_cast<std::size_t>(end - out.begin()), found);
        EXPECT_TRUE(std::equal(out.begin(), end, expected.begin()));
        EXPECT_TRUE(std::all_of(end, out.end(), [](int e) { return e == -7; }));
    });
}

TEST_P(selecting, copies_from_other_ranges) {
    inside([&] {
        const numbers data = quern_test::numbers(1'000);
        const std::list<int> list(data.begin(), data.end());
        numbers out(10);
        quern::partial_sort_copy(quern::par, list, out, std::greater<>());
        numbers expected = sorted(data);
        EXPECT_TRUE(std::equal(out.begin(), out.end(), expected.rbegin()));
    });
}

TEST_P(selecting, selects_elements_that_cannot_be_copied) {
    inside([&] {
        const numbers data = quern_test::numbers(quern_test::k_long);
        const numbers expected = sorted(data);
        for (const std::ptrdiff_t k : {10, 20'000}) {
            auto x = quern_test::made_of<owned>(data);
            quern::nth_element(quern::par, x, x.begin() + k);
            EXPECT_EQ(x[static_cast<std::size_t>(k)].value(),
                      expected[static_cast<std::size_t>(k)]);
            quern::partial_sort(quern::par, x, x.begin() + k);
            const numbers found = quern_test::values_of(x);
            EXPECT_TRUE(std::equal(found.begin(), found.begin() + k, expected.begin()));
        }
    });
}

template <class T>
void check_failing(std::ptrdiff_t k) {
    const numbers data = quern_test::numbers(quern_test::k_long);
    quern_test::expect_to_keep_elements<T>(
        data, [k](auto& x, auto less) { quern::nth_element(quern::par, x, x.begin() + k, less); });
    quern_test::expect_to_keep_elements<T>(
        data, [k](auto& x, auto less) { quern::partial_sort(quern::par, x, x.begin() + k, less); });
}

TEST_P(selecting, keeps_all_elements_when_a_comparison_throws) {
    inside([&] {
        for (const std::ptrdiff_t k : {10, 20'000}) {
            check_failing<int>(k);
            check_failing<owned>(k);
        }
    });
}

TEST_P(selecting, throws_the_exception_of_a_comparison) {
    inside([&] {
        quern_test::for_every_policy([](const auto& run) {
            numbers x = quern_test::numbers(quern_test::k_long);
            numbers out(1'000);
            const auto throws = [&](const auto& call) {
                const quern_test::failing_less fails(10'000);
                EXPECT_THROW(run([&](auto how) { return call(how, fails); }), std::runtime_error);
            };
            throws([&](auto how, auto less) {
                return quern::nth_element(how, x, x.begin() + 30'000, less);
            });
            throws([&](auto how, auto less) {
                return quern::partial_sort(how, x, x.begin() + 30'000, less);
            });
            throws(
                [&](auto how, auto less) { return quern::partial_sort_copy(how, x, out, less); });
        });
    });
}

}  // namespace
