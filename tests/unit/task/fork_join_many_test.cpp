// SPDX-License-Identifier: BSL-1.0
// fork_join of three functions and more, and the first fork_context of a recursion.
#include <quern/task/fork_join.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using quern::fork_context;
using quern::fork_join;
using quern_test::scaled;

class fork_join_many_test : public quern_test::on_runtime {};
QUERN_ON_STEALING_POLICIES(fork_join_many_test);

// Holds: fork_join: Of three and more, returns a std::tuple of the results in the order of the
//     functions, without those of functions that return void.
TEST_P(fork_join_many_test, returns_all_results_in_the_order_of_the_functions) {
    inside([] {
        int ran = 0;
        const auto [a, b, c] =
            fork_join([] { return 1; }, [&] { ++ran; }, [] { return std::string("three"); },
                      [] { return std::make_unique<int>(4); });
        EXPECT_EQ(a, 1);
        EXPECT_EQ(b, "three");
        EXPECT_EQ(*c, 4);
        EXPECT_EQ(ran, 1);
    });
}

// Holds: fork_join: Of three and more, returns the only result as it is, and nothing without one.
TEST_P(fork_join_many_test, returns_the_only_result_or_nothing) {
    inside([] {
        const int only = fork_join([] {}, [] { return 7; }, [] {});
        EXPECT_EQ(only, 7);
        static_assert(std::is_void_v<decltype(fork_join([] {}, [] {}, [] {}))>);
        std::vector<int> runs(5, 0);
        fork_join([&] { ++runs[0]; }, [&] { ++runs[1]; }, [&] { ++runs[2]; }, [&] { ++runs[3]; },
                  [&] { ++runs[4]; });
        EXPECT_EQ(runs, std::vector<int>(5, 1));
        int here = 5;
        const auto [first, second] =
            fork_join([&]() -> int& { return here; }, [] {}, [] { return std::tuple(1, 2); });
        EXPECT_EQ(first, &here);  // a reference comes as a pointer
        EXPECT_EQ(second, std::tuple(1, 2));
    });
}

// Holds: fork_join: Of three and more, runs them one after the other, the last first, where nothing
//     is stolen.
TEST_P(fork_join_many_test, runs_the_last_at_once) {
    inside([&] {
        if (workers() != 1) {
            return;  // a thief may take any but the last
        }
        std::vector<int> order;
        fork_join([&] { order.push_back(0); }, [&] { order.push_back(1); },
                  [&] { order.push_back(2); });
        EXPECT_EQ(order, (std::vector<int>{2, 1, 0}));
    });
}

long leaves(fork_context c, int depth) {
    if (depth == 0) {
        return 1;
    }
    const auto [a, b, d] = fork_join(
        c, [depth](fork_context at) { return leaves(at, depth - 1); },
        [depth](fork_context at) { return leaves(at, depth - 1); },
        [depth](fork_context at) { return leaves(at, depth - 1); });
    return a + b + d;
}

// Holds: with_fork_context: Gives the context that a recursion passes down, and returns what the
//     function returns.
TEST_P(fork_join_many_test, recurses_from_the_first_context) {
    constexpr int k_depth = scaled(9, 6);
    const long expected = scaled(19'683L, 729L);
    const auto count = [] {
        return quern::with_fork_context([](fork_context c) { return leaves(c, k_depth); });
    };
    EXPECT_EQ(inside(count), expected);
    EXPECT_EQ(count(), expected);  // a plain thread
    int here = 0;
    static_assert(
        std::is_same_v<
            decltype(quern::with_fork_context([&](fork_context) -> int& { return here; })), int&>);
}

// Holds: fork_join: Of three and more, throws the exception of the last function that threw, when
//     all have ended.
TEST_P(fork_join_many_test, throws_that_of_the_last_and_waits_for_all) {
    inside([] {
        for (int thrower = 0; thrower < 4; ++thrower) {
            std::atomic<int> running{0};
            const auto part = [&](int which) {
                return [&, which] {
                    ++running;
                    struct leaves_it {
                        std::atomic<int>& count;
                        ~leaves_it() { --count; }
                    } const at_end{running};
                    if (which == thrower) {
                        throw std::runtime_error(std::to_string(which));
                    }
                };
            };
            try {
                fork_join(part(0), part(1), part(2), part(3));
                ADD_FAILURE() << "nothing thrown by " << thrower;
            } catch (const std::runtime_error& error) {
                EXPECT_EQ(error.what(), std::to_string(thrower));
            }
            EXPECT_EQ(running.load(), 0);
        }
    });
}

}  // namespace
