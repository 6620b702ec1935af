// SPDX-License-Identifier: BSL-1.0
// merge and inplace_merge give what those of the standard give, in the same order.
#include <quern/algorithms/merge.hpp>

#include "unit/algorithms/sorting_data.hpp"

#include <cstddef>
#include <functional>
#include <list>
#include <string>

namespace {

using numbers = std::vector<int>;
using quern_test::owned;
using quern_test::sorted;

/// Pairs of sorted ranges, made once: sorting them takes longer than most checks.
const std::vector<std::pair<numbers, numbers>>& pairs() {
    static const auto the_pairs = [] {
        const std::size_t n = quern_test::k_long;
        std::vector<std::pair<numbers, numbers>> all;
        for (const int range : {1, 5, 1'000'000}) {
            const auto some = [range](std::size_t k) {
                return sorted(quern_test::numbers(k, range));
            };
            for (const auto& [a, b] : {std::pair{0UL, 0UL},
                                       {0UL, 3UL},
                                       {3UL, 0UL},
                                       {20UL, 30UL},
                                       {n, 1UL},
                                       {7UL, n},
                                       {n / 2, n},
                                       {n, n}}) {
                all.emplace_back(some(a), some(b));
            }
            numbers behind = some(n);
            for (int& each : behind) {
                each += range;
            }
            all.emplace_back(some(n), behind);
            all.emplace_back(behind, some(n));
        }
        return all;
    }();
    return the_pairs;
}

class merging : public quern_test::on_policies {
protected:
    /// Calls check(a, b) with pairs of sorted ranges.
    template <class Check>
    void for_pairs(Check check) {
        inside([&] {
            for (const auto& [a, b] : pairs()) {
                check(a, b);
            }
        });
    }
};
QUERN_ON_1_2_8_WORKERS(merging);

TEST_P(merging, merges_as_the_standard) {
    for_pairs([](const numbers& a, const numbers& b) {
        numbers expected;
        std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(expected));
        quern_test::for_policies_with(expected.size(), [&](const auto& run) {
            numbers out(expected.size() + 1, -7);
            const auto end = run([&](auto how) {
                return quern::merge(how, a.begin(), a.end(), b.begin(), b.end(), out.begin());
            });
            EXPECT_EQ(end, out.end() - 1);
            EXPECT_EQ(out.back(), -7);
            out.pop_back();
            EXPECT_EQ(out, expected);
        });
    });
}

TEST_P(merging, merges_neighbours_as_the_standard) {
    for_pairs([](const numbers& a, const numbers& b) {
        numbers both = a;
        both.insert(both.end(), b.begin(), b.end());
        const numbers expected = sorted(both);
        quern_test::for_policies_with(both.size(), [&](const auto& run) {
            numbers x = both;
            run([&](auto how) {
                return quern::inplace_merge(
                    how, x.begin(), x.begin() + static_cast<std::ptrdiff_t>(a.size()), x.end());
            });
            EXPECT_EQ(x, expected);
        });
    });
}

/// A key, and where it is from.
struct from_range {
    int key;
    int number;
    bool operator==(const from_range&) const = default;
    struct less {
        bool operator()(const from_range& a, const from_range& b) const { return a.key < b.key; }
    };
};

TEST_P(merging, keeps_the_order_of_equal_elements) {
    inside([&] {
        std::vector<from_range> x;
        int number = 0;
        for (int range = 0; range < 2; ++range) {
            for (const int key : sorted(quern_test::numbers(quern_test::k_long, 20))) {
                x.push_back({key, ++number});
            }
        }
        const auto middle = x.begin() + quern_test::k_long;
        std::vector<from_range> expected;
        std::merge(x.begin(), middle, middle, x.end(), std::back_inserter(expected),
                   from_range::less());
        std::vector<from_range> out(x.size());
        quern::merge(quern::par, x.begin(), middle, middle, x.end(), out.begin(),
                     from_range::less());
        EXPECT_EQ(out, expected);
        quern::inplace_merge(quern::par.with(quern::static_chunk_size(10)), x, middle,
                             from_range::less());
        EXPECT_EQ(x, expected);
    });
}

TEST_P(merging, merges_objects_and_other_ranges) {
    inside([&] {
        std::vector<std::string> a;
        for (const int each : quern_test::numbers(quern_test::k_long / 4)) {
            a.push_back(std::to_string(each));
        }
        std::sort(a.begin(), a.end());
        std::vector<std::string> expected;
        std::merge(a.begin(), a.end(), a.begin(), a.end(), std::back_inserter(expected));
        std::vector<std::string> out(2 * a.size());
        quern::merge(quern::par, a, a, out.begin());
        EXPECT_EQ(out, expected);
        const std::list<std::string> list(a.begin(), a.end());
        out.clear();
        quern::merge(quern::par, list, a, std::back_inserter(out));
        EXPECT_EQ(out, expected);
        std::list<std::string> both = list;
        both.insert(both.end(), list.begin(), list.end());
        quern::inplace_merge(quern::par, both,
                             std::next(both.begin(), static_cast<std::ptrdiff_t>(a.size())));
        EXPECT_TRUE(std::equal(both.begin(), both.end(), expected.begin(), expected.end()));
    });
}

template <class T>
void check_move_only() {
    const numbers half = sorted(quern_test::numbers(quern_test::k_long / 2));
    numbers data = half;
    data.insert(data.end(), half.begin(), half.end());
    const auto middle = static_cast<std::ptrdiff_t>(half.size());
    auto x = quern_test::made_of<T>(data);
    quern::inplace_merge(quern::par, x, x.begin() + middle);
    EXPECT_EQ(quern_test::values_of(x), sorted(data));
    quern_test::expect_to_keep_elements<T>(data, [middle](auto& y, auto less) {
        quern::inplace_merge(quern::par, y, y.begin() + middle, less);
    });
}

TEST_P(merging, merges_elements_that_cannot_be_copied) {
    inside([&] {
        check_move_only<owned>();
        check_move_only<quern_test::unsafe_to_move>();
        check_move_only<int>();  // with failing comparisons, too
    });
}

TEST_P(merging, throws_the_exception_of_a_comparison) {
    inside([&] {
        const numbers a = sorted(quern_test::numbers(quern_test::k_long));
        quern_test::for_every_policy([&](const auto& run) {
            numbers out(2 * a.size());
            const quern_test::failing_less fails(10'000);
            EXPECT_THROW(run([&](auto how) { return quern::merge(how, a, a, out.begin(), fails); }),
                         std::runtime_error);
        });
    });
}

}  // namespace
