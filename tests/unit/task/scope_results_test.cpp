// SPDX-License-Identifier: BSL-1.0
// Results of the children of a scope: fork_scope::spawn_into().
#include <quern/task/scope.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

namespace {

using quern::fork_context;
using quern::fork_scope;
using quern::scope;

class scope_results_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(scope_results_test);

// Holds: scope: spawn_into() assigns what each child returns, for every number of children.
TEST_P(scope_results_test, are_those_of_each_child) {
    inside([] {
        for (const int n : {1, 2, 9, 14, 100, quern_test::scaled(10'000, 1'000)}) {
            std::vector<int> results(static_cast<std::size_t>(n), -1);
            scope([&results](fork_scope& s) {
                for (std::size_t i = 0; i < results.size(); ++i) {
                    s.spawn_into(results[i], [i] { return static_cast<int>(i); });
                }
            });
            std::vector<int> expected(results.size());
            std::iota(expected.begin(), expected.end(), 0);
            EXPECT_EQ(results, expected);
        }
    });
}

int fib(fork_context c, int n) {
    if (n < 2) {
        return n;
    }
    int a = 0;
    int b = 0;
    scope(c, [&, n](fork_scope& s) {
        s.spawn_into(a, [n](fork_context here) { return fib(here, n - 1); });
        s.spawn_into(b, [n](fork_context here) { return fib(here, n - 2); });
    });
    return a + b;
}

// Holds: scope: spawn_into() takes f() or f(fork_context), values that can only be moved, and what can
//     be assigned to the result.
TEST_P(scope_results_test, of_every_kind) {
    inside([] {
        std::unique_ptr<int> moved;
        std::optional<std::string> text;
        double wider = 0;
        int here = 1;
        int referred = 0;
        int fibonacci = 0;
        scope([&](fork_scope& s) {
            s.spawn_into(moved, [] { return std::make_unique<int>(1); });
            s.spawn_into(text, [p = std::make_unique<int>(2)] { return std::to_string(*p); });
            s.spawn_into(wider, [] { return 3; });
            s.spawn_into(referred, [&here]() -> int& { return here; });
            s.spawn_into(fibonacci, [](fork_context c) { return fib(c, 12); });
        });
        EXPECT_EQ(*moved, 1);
        EXPECT_EQ(text, "2");
        EXPECT_EQ(wider, 3);
        EXPECT_EQ(referred, 1);
        EXPECT_EQ(fibonacci, 144);
    });
}

struct unwilling {
    unwilling& operator=(int) { throw std::runtime_error("not assigned"); }
};

// Holds: scope: The result of spawn_into() is unchanged if the child has thrown, or was dropped; what
//     its assignment throws is the child's exception.
TEST_P(scope_results_test, are_absent_where_a_child_has_thrown_or_was_dropped) {
    inside([] {
        std::optional<int> thrown, dropped;
        EXPECT_THROW(scope([&](fork_scope& s) {
                         s.spawn_into(thrown, []() -> int { throw std::runtime_error("a child"); });
                     }),
                     std::runtime_error);
        std::stop_source source;
        source.request_stop();
        EXPECT_THROW(scope(source.get_token(),
                           [&](fork_scope& s) { s.spawn_into(dropped, [] { return 1; }); }),
                     quern::task_cancelled);
        EXPECT_FALSE(thrown || dropped);
        unwilling result;
        EXPECT_THROW(scope([&](fork_scope& s) { s.spawn_into(result, [] { return 1; }); }),
                     std::runtime_error);
    });
}

}  // namespace
