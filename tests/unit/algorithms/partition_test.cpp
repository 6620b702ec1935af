// SPDX-License-Identifier: BSL-1.0
// partition, stable_partition and partition_copy divide as those of the standard do.
#include <quern/algorithms/partition.hpp>

#include "unit/algorithms/policies.hpp"

#include <algorithm>
#include <atomic>
#include <forward_list>
#include <iterator>
#include <list>
#include <memory>
#include <stdexcept>
#include <utility>

namespace {

using numbers = std::vector<int>;

/// Function objects of few types, so that little is compiled.
struct is_below {
    int limit;
    bool operator()(int e) const { return e < limit; }
};
constexpr int k_limits[] = {-1, 10, 250'000, 500'000, 990'000, 1'000'000};

struct throws_in_a_predicate {
    bool operator()(int e) const {
        return e == -1 ? throw std::runtime_error("minus one") : e % 2 == 0;
    }
};

struct is_third {
    bool operator()(const std::unique_ptr<int>& e) const { return *e % 3 == 0; }
};

class partitioning : public quern_test::on_policies {};
QUERN_ON_1_2_8_WORKERS(partitioning);

numbers sorted(numbers all) {
    std::sort(all.begin(), all.end());
    return all;
}

/// Calls check(data, limit) for random data, and for data sorted in both directions or equal.
template <class Check>
void for_kinds(const numbers& data, Check check) {
    for (const int limit : k_limits) {
        check(data, limit);
    }
    const numbers ascending = sorted(data);
    check(ascending, 250'000);
    check(numbers(ascending.rbegin(), ascending.rend()), 250'000);
    check(numbers(data.size(), 500'000), 500'000);
}

TEST_P(partitioning, partition_moves_the_elements_of_a_kind_to_the_front) {
    compare([](const auto& run, const numbers& data) {
        for_kinds(data, [&](const numbers& all, int limit) {
            numbers x = all;
            const auto end =
                run([&](auto how) { return quern::partition(how, x, is_below{limit}); });
            EXPECT_EQ(end - x.begin(), std::count_if(all.begin(), all.end(), is_below{limit}));
            EXPECT_TRUE(std::all_of(x.begin(), end, is_below{limit}));
            EXPECT_TRUE(std::none_of(end, x.end(), is_below{limit}));
            EXPECT_TRUE(sorted(x) == sorted(all));
        });
    });
}

TEST_P(partitioning, stable_partition_keeps_the_order) {
    compare([](const auto& run, const numbers& data) {
        for_kinds(data, [&](const numbers& all, int limit) {
            numbers expected = all;
            const auto middle =
                std::stable_partition(expected.begin(), expected.end(), is_below{limit});
            numbers x = all;
            const auto end =
                run([&](auto how) { return quern::stable_partition(how, x, is_below{limit}); });
            EXPECT_EQ(end - x.begin(), middle - expected.begin());
            EXPECT_TRUE(x == expected);
        });
    });
}

TEST_P(partitioning, partition_copy_copies_both_kinds_in_order) {
    compare([](const auto& run, const numbers& data) {
        for (const int limit : k_limits) {
            numbers expected(data.size(), -7), expected2(data.size(), -7);
            const auto ends = std::partition_copy(data.begin(), data.end(), expected.begin(),
                                                  expected2.begin(), is_below{limit});
            numbers x(data.size(), -7), x2(data.size(), -7);
            const auto found = run([&](auto how) {
                return quern::partition_copy(how, data, x.begin(), x2.begin(), is_below{limit});
            });
            EXPECT_EQ(found.first - x.begin(), ends.first - expected.begin());
            EXPECT_EQ(found.second - x2.begin(), ends.second - expected2.begin());
            EXPECT_EQ(x, expected);
            EXPECT_EQ(x2, expected2);
        }
    });
}

TEST_P(partitioning, is_partitioned_says_whether_all_of_a_kind_come_first) {
    compare([](const auto& run, const numbers& data) {
        for (const numbers& all : {data, sorted(data)}) {
            EXPECT_EQ(
                run([&](auto how) { return quern::is_partitioned(how, all, is_below{250'000}); }),
                std::is_partitioned(all.begin(), all.end(), is_below{250'000}));
        }
    });
}

TEST_P(partitioning, runs_in_order_over_iterators_of_single_steps) {
    inside([] {
        const numbers data = quern_test::numbers(1000);
        std::forward_list<int> x(data.begin(), data.end());
        const auto end = quern::partition(quern::par, x.begin(), x.end(), is_below{500'000});
        EXPECT_EQ(std::distance(x.begin(), end),
                  std::count_if(data.begin(), data.end(), is_below{500'000}));
        std::list<int> list(data.begin(), data.end());
        numbers expected = data;
        std::stable_partition(expected.begin(), expected.end(), is_below{500'000});
        quern::stable_partition(quern::par, list.begin(), list.end(), is_below{500'000});
        EXPECT_TRUE(std::equal(list.begin(), list.end(), expected.begin(), expected.end()));
        numbers low, high;
        quern::partition_copy(quern::par, data.begin(), data.end(), std::back_inserter(low),
                              std::back_inserter(high), is_below{500'000});
        low.insert(low.end(), high.begin(), high.end());
        EXPECT_EQ(low, expected);
    });
}

TEST_P(partitioning, moves_elements_that_cannot_be_copied) {
    inside([] {
        for (const std::size_t n : quern_test::sizes()) {
            numbers data = quern_test::numbers(n);
            const auto owners = [&data] {
                std::vector<std::unique_ptr<int>> all;
                for (const int each : data) {
                    all.push_back(std::make_unique<int>(each));
                }
                return all;
            };
            const auto values = [](const std::vector<std::unique_ptr<int>>& all) {
                numbers found;
                for (const auto& each : all) {
                    found.push_back(*each);
                }
                return found;
            };
            auto x = owners();
            const auto end = quern::partition(quern::par, x, is_third());
            EXPECT_TRUE(std::all_of(x.begin(), end, is_third()));
            EXPECT_TRUE(std::none_of(end, x.end(), is_third()));
            EXPECT_EQ(sorted(values(x)), sorted(data));
            auto y = owners();
            auto expected = owners();
            std::stable_partition(expected.begin(), expected.end(), is_third());
            quern::stable_partition(quern::par, y, is_third());
            EXPECT_EQ(values(y), values(expected));
        }
    });
}

TEST_P(partitioning, obeys_chunkers_and_pools) {
    inside([] {
        quern::runtime other(quern::runtime_options::with_workers(2));
        const numbers data = quern_test::numbers(100'003);
        numbers expected = data;
        std::stable_partition(expected.begin(), expected.end(), is_below{300'000});
        const auto check = [&](auto how) {
            numbers x = data;
            quern::stable_partition(how, x, is_below{300'000});
            EXPECT_EQ(x, expected);
            numbers low(data.size()), high(data.size());
            const auto ends =
                quern::partition_copy(how, data, low.begin(), high.begin(), is_below{300'000});
            low.erase(ends.first, low.end());
            low.insert(low.end(), high.begin(), ends.second);
            EXPECT_EQ(low, expected);
        };
        check(quern::par.on(other));
        check(quern::par.with(quern::static_chunk_size(1000)));
        check(quern::par.with(quern::grain::fixed(777)));
    });
}

TEST_P(partitioning, throws_the_exception_of_a_predicate_and_loses_nothing) {
    inside([] {
        quern_test::for_every_policy([&](const auto& run) {
            numbers x = quern_test::numbers(100'003);
            x[70'000] = -1;
            numbers y(x.size()), y2(x.size());
            const numbers all = sorted(x);
            EXPECT_THROW(run([&](auto how) {
                             return quern::partition_copy(how, x, y.begin(), y2.begin(),
                                                          throws_in_a_predicate());
                         }),
                         std::runtime_error);
            EXPECT_THROW(
                run([&](auto how) { return quern::partition(how, x, throws_in_a_predicate()); }),
                std::runtime_error);
            EXPECT_EQ(sorted(x), all);
            EXPECT_THROW(run([&](auto how) {
                             return quern::stable_partition(how, x, throws_in_a_predicate());
                         }),
                         std::runtime_error);
            // On one worker it is the standard's, which may lose what it has in a buffer.
            EXPECT_EQ(x.size(), all.size());
        });
    });
}

TEST_P(partitioning, calls_the_predicate_once_per_element_where_order_is_kept) {
    inside([] {
        std::atomic<int> calls{0};
        const auto counts = [&calls](int e) {
            calls.fetch_add(1, std::memory_order_relaxed);
            return e % 2 == 0;
        };
        numbers x = quern_test::numbers(100'003);
        numbers y(x.size()), y2(x.size());
        quern::partition_copy(quern::par, x, y.begin(), y2.begin(), counts);
        EXPECT_EQ(calls.load(), 100'003);
        quern::stable_partition(quern::par, x, counts);
        EXPECT_EQ(calls.load(), 2 * 100'003);
    });
}

TEST(partitioning_from_outside, runs_on_the_default_runtime) {
    for (const std::size_t n : quern_test::sizes()) {
        numbers x = quern_test::numbers(n);
        numbers expected = x;
        std::stable_partition(expected.begin(), expected.end(), is_below{500'000});
        quern::stable_partition(quern::par, x, is_below{500'000});
        EXPECT_EQ(x, expected);
        quern::partition(quern::par, x, is_below{300'000});
        EXPECT_TRUE(std::is_partitioned(x.begin(), x.end(), is_below{300'000}));
    }
}

}  // namespace
