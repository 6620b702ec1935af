// SPDX-License-Identifier: BSL-1.0
// fork_join: its results for every kind of result and closure, in every form of call, and that both
// functions run exactly once. Errors are in fork_join_errors_test.cpp.
#include <quern/task/fork_join.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <array>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

using quern::fork_context;
using quern::fork_join;
using quern_test::scaled;

class fork_join_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(fork_join_test);

// Holds: fork_join: Returns a std::pair of the results, in the order of the functions.
TEST_P(fork_join_test, returns_both_results_in_the_order_of_the_functions) {
    inside([] {
        const auto [f, g] = fork_join([] { return 1; }, [] { return std::string("two"); });
        EXPECT_EQ(f, 1);
        EXPECT_EQ(g, "two");
    });
}

// Holds: fork_join: Returns the other's result when one returns void; void when both do.
TEST_P(fork_join_test, returns_the_one_result_when_the_other_is_void) {
    inside([] {
        bool ran = false;
        const int f = fork_join([] { return 1; }, [&] { ran = true; });
        EXPECT_EQ(f, 1);
        EXPECT_TRUE(std::exchange(ran, false));
        const int g = fork_join([&] { ran = true; }, [] { return 2; });
        EXPECT_EQ(g, 2);
        EXPECT_TRUE(ran);
    });
}

// Holds: fork_join: Returns the other's result...
TEST_P(fork_join_test, returns_nothing_when_both_are_void) {
    inside([] {
        int f = 0, g = 0;
        static_assert(std::is_void_v<decltype(fork_join([] {}, [] {}))>);
        fork_join([&] { ++f; }, [&] { ++g; });
        EXPECT_EQ(f, 1);
        EXPECT_EQ(g, 1);
    });
}

// Holds: fork_join: A result of reference type comes as a pointer.
TEST_P(fork_join_test, returns_references_as_pointers) {
    inside([] {
        int a = 1;
        const int b = 2;
        const auto [f, g] =
            fork_join([&]() -> int& { return a; }, [&]() -> const int& { return b; });
        EXPECT_EQ(f, &a);
        EXPECT_EQ(g, &b);
        int* one = fork_join([&]() -> int& { return a; }, [] {});
        EXPECT_EQ(one, &a);
    });
}

// Holds: fork_join: Results need neither copies nor default constructors.
TEST_P(fork_join_test, moves_results_that_cannot_be_copied) {
    inside([] {
        auto [f, g] = fork_join([] { return std::make_unique<int>(1); },
                                [] { return std::make_unique<int>(2); });
        EXPECT_EQ(*f + *g, 3);
        std::unique_ptr<int> one = fork_join([] { return std::make_unique<int>(4); }, [] {});
        EXPECT_EQ(*one, 4);
    });
}

struct no_default {
    explicit no_default(int n) : value(n) {}
    int value;
};

// Holds: fork_join: Results need neither copies...
TEST_P(fork_join_test, needs_no_default_constructor) {
    inside([] {
        const auto both = fork_join([] { return no_default(1); }, [] { return no_default(2); });
        EXPECT_EQ(both.first.value + both.second.value, 3);
    });
}

// Holds: fork_join: Closures may be large...
TEST_P(fork_join_test, takes_closures_that_cannot_be_copied) {
    inside([] {
        auto one = std::make_unique<int>(1);
        auto two = std::make_unique<int>(2);
        const auto [f, g] =
            fork_join([p = std::move(one)] { return *p; }, [p = std::move(two)] { return *p; });
        EXPECT_EQ(f + g, 3);
    });
}

// Holds: fork_join: Closures may be large...
TEST_P(fork_join_test, takes_functions_whose_bytes_could_be_copied_but_that_have_no_copies) {
    struct doubled {
        int number;
        explicit doubled(int n) : number(n) {}
        doubled(const doubled&) = delete;
        doubled& operator=(const doubled&) = delete;
        doubled(doubled&&) = default;
        doubled& operator=(doubled&&) = default;
        int operator()() const { return 2 * number; }
    };
    static_assert(std::is_trivially_copyable_v<doubled>);
    inside([] {
        const auto [f, g] = fork_join(doubled(1), doubled(2));
        EXPECT_EQ(f, 2);
        EXPECT_EQ(g, 4);
    });
}

// Holds: fork_join: Closures may be large, or movable only; lvalues are called themselves.
TEST_P(fork_join_test, takes_large_closures) {
    inside([] {
        std::array<int, 1000> many{};
        many.fill(1);
        const auto sum = [many] {
            int total = 0;
            for (const int n : many) {
                total += n;
            }
            return total;
        };
        const auto [f, g] = fork_join(std::decay_t<decltype(sum)>(sum), sum);
        EXPECT_EQ(f, 1000);
        EXPECT_EQ(g, 1000);
    });
}

// Holds: fork_join: Closures may be large...
TEST_P(fork_join_test, calls_lvalues_themselves_and_not_copies) {
    struct counter {
        int operator()() { return ++calls; }
        int calls = 0;
    };
    inside([] {
        counter f, g;
        for (int i = 1; i <= 100; ++i) {
            const auto [a, b] = fork_join(f, g);
            ASSERT_EQ(a, i);
            ASSERT_EQ(b, i);
        }
        EXPECT_EQ(f.calls, 100);
        EXPECT_EQ(g.calls, 100);
    });
}

int forty() { return 40; }
int two() { return 2; }

TEST_P(fork_join_test, takes_pointers_to_functions) {
    inside([] {
        const auto [f, g] = fork_join(&forty, &two);
        EXPECT_EQ(f + g, 42);
    });
}

// Holds: fork_join: Either may take a fork_context to fork further.
TEST_P(fork_join_test, gives_each_function_a_context_if_it_wants_one) {
    inside([] {
        const auto [f, g] = fork_join(
            [](fork_context c) { return fork_join(c, &forty, &two); },
            [](fork_context c) {
                return fork_join(
                    c, [](fork_context d) { return fork_join(d, &two, &two).first; }, &forty);
            });
        EXPECT_EQ(f.first + f.second, 42);
        EXPECT_EQ(g.first + g.second, 42);
    });
}

// Holds: fork_join: g runs at once on the calling stack.
TEST_P(fork_join_test, runs_the_second_function_on_the_calling_stack_at_once) {
    inside([] {
        int local = 0;
        const auto* caller = &local;
        const int rank = quern::current_worker_rank();
        fork_join([] {},
                  [&] {
                      int here = 0;
                      EXPECT_LT(reinterpret_cast<const char*>(caller) -
                                    reinterpret_cast<const char*>(&here),
                                64 * 1024);
                      EXPECT_EQ(quern::current_worker_rank(), rank);
                  });
    });
}

// Holds: fork_join: f runs on the calling stack after g if it was not stolen.
TEST_P(fork_join_test, runs_the_first_function_after_the_second_when_alone) {
    if (workers() != 1) {
        GTEST_SKIP() << "another worker may take the first function";
    }
    inside([] {
        std::string order;
        fork_join([&] { order += 'f'; }, [&] { order += 'g'; });
        EXPECT_EQ(order, "gf");
    });
}

long fib_plain(int n) {
    if (n < 2) {
        return n;
    }
    const auto [a, b] =
        fork_join([n] { return fib_plain(n - 1); }, [n] { return fib_plain(n - 2); });
    return a + b;
}

long fib(fork_context c, int n) {
    if (n < 2) {
        return n;
    }
    const auto [a, b] = fork_join(
        c, [n](fork_context d) { return fib(d, n - 1); },
        [n](fork_context d) { return fib(d, n - 2); });
    return a + b;
}

TEST_P(fork_join_test, computes_fibonacci) {
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(inside([] { return fib_plain(20); }), 6765);
        EXPECT_EQ(inside([] {
                      const auto both = fork_join([](fork_context c) { return fib(c, 19); },
                                                  [](fork_context c) { return fib(c, 18); });
                      return both.first + both.second;
                  }),
                  6765);
    }
}

/// Marks each leaf of a tree once; marks are plain, so a leaf run twice is also a data race.
void mark(std::vector<int>& marks, std::size_t first, std::size_t last) {
    if (last - first == 1) {
        ++marks[first];
        return;
    }
    const std::size_t middle = first + (last - first) / 2;
    fork_join([&, first, middle] { mark(marks, first, middle); },
              [&, middle, last] { mark(marks, middle, last); });
}

// Holds: fork_join: Runs f and g, each exactly once.
// Holds: fork_join: Returns when both are done, and what they did happens before.
TEST_P(fork_join_test, runs_every_leaf_of_a_tree_once) {
    std::vector<int> marks(scaled(100'000U, 10'000U));
    for (int round = 1; round <= 5; ++round) {
        inside([&] { mark(marks, 0, marks.size()); });
        for (const int m : marks) {
            ASSERT_EQ(m, round);
        }
    }
}

// Holds: fork_join: Either function may suspend.
TEST_P(fork_join_test, may_suspend_in_either_function) {
    inside([] {
        for (int i = 0; i < 200; ++i) {
            int f = 0, g = 0;
            fork_join(
                [&] {
                    quern_test::let_others_run();
                    f = i;
                },
                [&] {
                    quern_test::let_others_run();
                    g = i;
                });
            ASSERT_EQ(f, i);
            ASSERT_EQ(g, i);
        }
    });
}

// Holds: fork_join: f and g run in parallel if a worker is free.
TEST_P(fork_join_test, gives_work_to_thieves) {
    if (!has_thieves()) {
        GTEST_SKIP() << "needs a thief";
    }
    inside([] {
        quern_test::spin_gate begun;  // opened by f, awaited by g: so another worker must run f
        fork_join([&] { begun.open(); }, [&] { begun.pass(); });
    });
}

// Holds: fork_join: Any thread may call it; outside a worker it runs on the default runtime.
TEST(fork_join_from_outside, runs_on_the_default_runtime_and_waits) {
    int f = 0;
    const int g = fork_join(
        [&] {
            EXPECT_GE(quern::current_worker_rank(), 0);
            f = 1;
        },
        [] { return quern::current_worker_rank(); });
    EXPECT_EQ(f, 1);
    EXPECT_GE(g, 0);
    EXPECT_EQ(fib_plain(18), 2584);
    auto [a, b] = fork_join([] { return std::make_unique<int>(1); }, [] { return 2; });
    EXPECT_EQ(*a + b, 3);
    int place = 0;
    EXPECT_EQ(fork_join([&]() -> int& { return place; }, [] {}), &place);
}

// Holds: fork_join: Any thread may call...
TEST(fork_join_from_outside, may_be_called_by_many_threads) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([] {
            for (int round = 0; round < 10; ++round) {
                EXPECT_EQ(fib_plain(12), 144);
            }
        });
    }
    for (std::thread& t : threads) {
        t.join();
    }
}

}  // namespace
