// SPDX-License-Identifier: BSL-1.0
// parallel_for: every index once, for every size, index type and grain; nested, with errors, from
// outside. The marks are plain, so that an index that is visited twice is also a data race.
#include <quern/algorithms/parallel_for.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <atomic>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace {

using quern::fork_context;
using quern::grain;
using quern::parallel_for;
using quern_test::scaled;

constexpr int k_many = scaled(1'000'000, 50'000);

class parallel_for_test : public quern_test::on_runtime {
protected:
    /// Visits [first, last) and checks that each index was visited once.
    template <class Index>
    void check(Index first, Index last, grain how) {
        // Unsigned arithmetic is right for every pair of indices of one type.
        const auto size = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
        std::vector<char> marks(size, 0);
        inside([&] {
            parallel_for(first, last, how, [&](Index i) {
                ++marks[static_cast<std::uint64_t>(i) - static_cast<std::uint64_t>(first)];
            });
        });
        EXPECT_EQ(marks, std::vector<char>(size, 1)) << size << " from " << +first;
    }
};
QUERN_ON_ALL_POLICIES(parallel_for_test);

// Holds: parallel_for: Calls body(i) for every i in [first, last), once, for every size.
// Holds: parallel_for: What the iterations did happens before the return.
TEST_P(parallel_for_test, visits_every_index_once_for_every_size) {
    for (const int size : {0, 1, 2, 3, 1000, k_many}) {
        check<int>(0, size, grain::automatic());
    }
}

// Holds: parallel_for: Calls body once for every index, for every grain.
TEST_P(parallel_for_test, visits_every_index_once_for_every_grain) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{1000},
                                std::size_t{1} << 40}) {
        for (const int size : {0, 1, 2, 3, 1000, k_many / 10}) {
            check<int>(0, size, grain::fixed(n));
        }
    }
    check<int>(0, 10, grain::fixed(0));  // as 1
}

// Holds: parallel_for: A body may change its parameter: the loop's own index stays as it is.
TEST_P(parallel_for_test, a_body_cannot_change_the_index_of_the_loop) {
    for (const grain how : {grain::automatic(), grain::fixed(3)}) {
        std::vector<char> marks(1000, 0);
        inside([&] {
            parallel_for(0, 1000, how, [&](auto&& i) {
                ++marks[static_cast<std::size_t>(i)];
                i += 7;
            });
            parallel_for(0, 1000, how, [&](fork_context, auto&& i) {
                ++marks[static_cast<std::size_t>(i)];
                i += 7;
            });
        });
        EXPECT_EQ(marks, std::vector<char>(1000, 2));
    }
}

// Holds: pool_ref: totals() count loops and the pieces in which they ran.
TEST_P(parallel_for_test, is_counted_with_its_pieces) {
    const quern::worker_totals before = rt.totals();
    inside([] {
        for (int loop = 0; loop < 3; ++loop) {
            parallel_for(0, 1000, grain::fixed(10), [](int) {});
        }
    });
    const quern::worker_totals after = rt.totals();
    EXPECT_EQ(after.loops - before.loops, 3U);
    EXPECT_GE(after.chunks - before.chunks, 300U);
}

// Holds: parallel_for: Every type of integer will do, to the ends of its range.
TEST_P(parallel_for_test, takes_every_type_of_index) {
    for (const grain how : {grain::automatic(), grain::fixed(3)}) {
        check<int>(-500, 500, how);
        check<unsigned>(7, 1007, how);
        check<long>(-1000, -1, how);
        check<std::uint64_t>(std::numeric_limits<std::uint64_t>::max() / 2,  // beyond 32 bits
                             std::numeric_limits<std::uint64_t>::max() / 2 + 1000, how);
        check<std::int64_t>(std::numeric_limits<std::int64_t>::min() + 1,
                            std::numeric_limits<std::int64_t>::min() + 1000, how);
        check<int>(std::numeric_limits<int>::max() - 1000, std::numeric_limits<int>::max(), how);
        check<int>(std::numeric_limits<int>::min(), std::numeric_limits<int>::min() + 1000, how);
        check<std::size_t>(0, 1000, how);
    }
}

// Holds: parallel_for: Nothing is called for a range that is empty or backward.
TEST_P(parallel_for_test, does_nothing_when_the_range_is_empty_or_backward) {
    inside([] {
        parallel_for(5, 5, [](int) { FAIL(); });
        parallel_for(5, -5, [](int) { FAIL(); });
        parallel_for(5U, 4U, [](unsigned) { FAIL(); });
    });
}

// Holds: parallel_for: Calls body(context, i) if body takes that.
TEST_P(parallel_for_test, gives_the_body_a_context_if_it_wants_one) {
    inside([] {
        std::vector<int> marks(2000, 0);
        parallel_for(0, 1000, [&](fork_context c, int i) {
            const auto k = static_cast<std::size_t>(2 * i);
            quern::fork_join(
                c, [&, k] { ++marks[k]; }, [&, k] { ++marks[k + 1]; });
        });
        EXPECT_EQ(marks, std::vector<int>(2000, 1));
    });
}

// Holds: parallel_for: Iterations may suspend, and...
TEST_P(parallel_for_test, nests) {
    inside([] {
        constexpr std::size_t k_side = 60;
        std::vector<int> marks(k_side * k_side * k_side, 0);
        parallel_for(std::size_t{0}, k_side, [&](std::size_t i) {
            parallel_for(std::size_t{0}, k_side, [&](std::size_t j) {
                parallel_for(std::size_t{0}, k_side, grain::fixed(8),
                             [&](std::size_t k) { ++marks[(i * k_side + j) * k_side + k]; });
            });
        });
        EXPECT_EQ(marks, std::vector<int>(marks.size(), 1));
    });
}

// Holds: parallel_for: Iterations may suspend, and contain loops.
TEST_P(parallel_for_test, lets_iterations_suspend) {
    inside([] {
        std::vector<int> marks(500, 0);
        parallel_for(std::size_t{0}, marks.size(), [&](std::size_t i) {
            quern_test::let_others_run();
            ++marks[i];
        });
        EXPECT_EQ(marks, std::vector<int>(500, 1));
    });
}

// Holds: parallel_for: Throws the first exception of an iteration.
TEST_P(parallel_for_test, throws_what_an_iteration_throws) {
    inside([] {
        for (const int failing : {0, 1, 499, 998, 999}) {
            std::vector<int> marks(1000, 0);
            EXPECT_THROW(parallel_for(0, 1000,
                                      [&](int i) {
                                          ++marks[static_cast<std::size_t>(i)];
                                          if (i == failing) {
                                              throw std::runtime_error("iteration");
                                          }
                                      }),
                         std::runtime_error);
            EXPECT_EQ(marks[static_cast<std::size_t>(failing)], 1);
            for (const int m : marks) {
                ASSERT_LE(m, 1);
            }
        }
        EXPECT_THROW(parallel_for(0, 1000, [](int) { throw 1; }), int);
    });
}

// Holds: parallel_for: Iterations that have not begun then are dropped.
TEST_P(parallel_for_test, drops_what_has_not_begun_when_one_throws) {
    inside([] {
        std::atomic<int> begun{0};
        EXPECT_THROW(parallel_for(0, 1'000'000, grain::fixed(1),
                                  [&](int i) {
                                      begun.fetch_add(1, std::memory_order_relaxed);
                                      quern_test::spin_for(std::chrono::microseconds(1));
                                      if (i == 0) {
                                          throw std::runtime_error("first");
                                      }
                                  }),
                     std::runtime_error);
        EXPECT_LT(begun.load(), 500'000);
    });
}

// Holds: parallel_for: Iterations run in parallel as far as workers are free.
TEST_P(parallel_for_test, shares_its_iterations_with_idle_workers) {
    if (workers() > 1 && !has_thieves()) {
        GTEST_SKIP() << "where nothing is stolen a loop runs on the worker that called it";
    }
    // As many iterations as workers, none of which ends before all have begun.
    inside([this] {
        std::atomic<unsigned> begun{0};
        parallel_for(0U, workers(), grain::fixed(1), [&](unsigned) {
            begun.fetch_add(1);
            EXPECT_TRUE(quern_test::eventually([&] { return begun.load() == workers(); }));
        });
    });
}

// Holds: parallel_for: Every type of integer...
TEST_P(parallel_for_test, takes_a_range_that_is_wider_than_its_signed_index) {
    inside([] {
        constexpr int k_low = std::numeric_limits<int>::min();
        constexpr int k_high = std::numeric_limits<int>::max();
        EXPECT_THROW(parallel_for(k_low, k_high, [](int) { throw std::runtime_error("stop"); }),
                     std::runtime_error);
    });
}

// Holds: parallel_for: Any thread may call it; outside a worker it runs on the default runtime.
TEST(parallel_for_from_outside, runs_on_the_default_runtime) {
    std::vector<int> marks(10'000, 0);
    parallel_for(std::size_t{0}, marks.size(), [&](std::size_t i) {
        EXPECT_GE(quern::current_worker_rank(), 0);
        ++marks[i];
    });
    EXPECT_EQ(marks, std::vector<int>(10'000, 1));
    EXPECT_THROW(parallel_for(0, 10, [](int) { throw 1; }), int);
}

// Holds: parallel_for: The index has the type that holds both bounds.
TEST_P(parallel_for_test, takes_bounds_of_different_types) {
    inside([] {
        const std::vector<int> all(100, 1);
        std::atomic<std::size_t> sum{0};
        parallel_for(0, all.size(), [&](auto i) {
            static_assert(std::is_same_v<decltype(i), std::size_t>);
            sum.fetch_add(i);
        });
        parallel_for(-2, std::int64_t{3}, [&](std::int64_t) { sum.fetch_add(1); });
        EXPECT_EQ(sum.load(), 99U * 100U / 2 + 5);
    });
}

// Holds: parallel_for: std::invalid_argument when one bound is negative and the other one's type
//     unsigned.
TEST_P(parallel_for_test, refuses_a_negative_bound_of_unsigned_indices) {
    inside([] {
        EXPECT_THROW(parallel_for(-1, std::size_t{3}, [](std::size_t) {}), std::invalid_argument);
        EXPECT_THROW(parallel_for(std::size_t{0}, -3, [](std::size_t) {}), std::invalid_argument);
    });
}

}  // namespace
