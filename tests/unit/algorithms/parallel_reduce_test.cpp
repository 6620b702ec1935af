// SPDX-License-Identifier: BSL-1.0
// parallel_reduce: the value of the serial formula, in the serial order, for every size and grain.
#include <quern/algorithms/parallel_for.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

using quern::grain;
using quern::parallel_reduce;
using quern_test::scaled;

constexpr int k_many = scaled(1'000'000, 50'000);

class parallel_reduce_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(parallel_reduce_test);

// Holds: parallel_reduce: The value of the serial formula, for every size.
TEST_P(parallel_reduce_test, sums_every_index_once_for_every_size) {
    inside([] {
        for (const long n : {0L, 1L, 2L, 3L, 1000L, long{k_many}}) {
            const long sum = parallel_reduce(
                0L, n, 0L, [](long i) { return i; }, std::plus<>{});
            EXPECT_EQ(sum, n * (n - 1) / 2) << n;
        }
    });
}

// Holds: parallel_reduce: The value of the serial formula, for every grain.
TEST_P(parallel_reduce_test, takes_every_grain) {
    inside([] {
        for (const std::size_t n : {std::size_t{1}, std::size_t{3}, std::size_t{1} << 40}) {
            EXPECT_EQ(parallel_reduce(
                          0, 1000, grain::fixed(n), 0, [](int i) { return i; }, std::plus<>{}),
                      499'500);
        }
    });
}

// Holds: parallel_reduce: A map may change its parameter: the loop's own index stays as it is.
TEST_P(parallel_reduce_test, a_map_cannot_change_the_index_of_the_loop) {
    inside([] {
        EXPECT_EQ(parallel_reduce(
                      0, 1000, 0, [](auto&& i) { return i++; }, std::plus<>{}),
                  499'500);
    });
}

// Holds: parallel_reduce: `initial` enters once; of an empty range it is the value.
TEST_P(parallel_reduce_test, uses_the_initial_value_once) {
    inside([] {
        for (const int n : {0, 1, 2, 1000}) {
            EXPECT_EQ(parallel_reduce(
                          0, n, 100, [](int) { return 1; }, std::plus<>{}),
                      100 + n);
        }
        EXPECT_EQ(parallel_reduce(
                      5, -5, 7, [](int) { return 1; }, std::plus<>{}),
                  7);
    });
}

std::string word(int i) { return std::to_string(i) + ","; }

// Holds: parallel_reduce: combine need not be commutative.
TEST_P(parallel_reduce_test, keeps_the_order_so_combine_need_not_commute) {
    const int n = scaled(5'000, 500);
    std::string expected = "start:";
    for (int i = -10; i < n; ++i) {
        expected += word(i);
    }
    for (const grain how : {grain::automatic(), grain::fixed(1), grain::fixed(17)}) {
        for (int round = 0; round < 10; ++round) {
            const std::string text = inside([&] {
                return parallel_reduce(-10, n, how, std::string("start:"), word, std::plus<>{});
            });
            ASSERT_EQ(text, expected);
        }
    }
}

// Holds: parallel_reduce: Values need neither copies nor default constructors.
TEST_P(parallel_reduce_test, moves_values_that_cannot_be_copied) {
    inside([] {
        const auto sum = parallel_reduce(
            0, 10'000, std::make_unique<long>(0), [](int i) { return std::make_unique<long>(i); },
            [](std::unique_ptr<long> a, std::unique_ptr<long> b) {
                *a += *b;
                return a;
            });
        EXPECT_EQ(*sum, 49'995'000);
    });
}

struct largest {
    explicit largest(int n) : value(n) {}  // no default constructor
    int value;
};

// Holds: parallel_reduce: Values need neither copies...
TEST_P(parallel_reduce_test, needs_no_default_constructor) {
    inside([] {
        const largest found = parallel_reduce(
            0, 1000, largest(-1), [](int i) { return largest((i * 7919) % 1000); },
            [](largest a, largest b) { return largest(std::max(a.value, b.value)); });
        EXPECT_EQ(found.value, 999);
    });
}

// Holds: parallel_reduce: Throws the first exception, of map or combine.
TEST_P(parallel_reduce_test, throws_what_map_or_combine_throws) {
    inside([] {
        for (const int failing : {0, 1, 500, 999}) {
            const auto map = [failing](int i) {
                return i == failing ? throw std::runtime_error("map") : std::string("x");
            };
            EXPECT_THROW(parallel_reduce(0, 1000, std::string(), map, std::plus<>{}),
                         std::runtime_error);
        }
        const auto combine = [](int a, int b) {
            return a > 700 || b > 700 ? throw std::logic_error("combine") : a + b;
        };
        EXPECT_THROW(parallel_reduce(
                         0, 1000, grain::fixed(1), 0, [](int i) { return i; }, combine),
                     std::logic_error);
    });
}

// Holds: parallel_reduce: map may suspend and...
TEST_P(parallel_reduce_test, nests) {
    inside([] {
        const long sum = parallel_reduce(
            0, 100, 0L,
            [](int i) {
                return parallel_reduce(
                    0, 100, 0L, [i](int j) { return long{i} * j; }, std::plus<>{});
            },
            std::plus<>{});
        EXPECT_EQ(sum, 4950L * 4950L);
    });
}

// Holds: parallel_reduce: map may suspend and reduce in turn.
TEST_P(parallel_reduce_test, lets_map_suspend) {
    inside([] {
        const int sum = parallel_reduce(
            0, 300, 0,
            [](int i) {
                quern_test::let_others_run();
                return i;
            },
            std::plus<>{});
        EXPECT_EQ(sum, 299 * 300 / 2);
    });
}

// Holds: parallel_reduce: Any thread may call it; outside a worker it runs on the default runtime.
TEST(parallel_reduce_from_outside, runs_on_the_default_runtime) {
    EXPECT_EQ(parallel_reduce(
                  0, 1000, std::string(), [](int) { return std::string("x"); }, std::plus<>{}),
              std::string(1000, 'x'));
}

}  // namespace
