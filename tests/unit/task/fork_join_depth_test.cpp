// SPDX-License-Identifier: BSL-1.0
// Deep recursions of fork_join: the stack never overflows, whichever function recurses and whatever
// the class of the stack.
#include <quern/task/fork_join.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <stdexcept>

namespace {

using quern::fork_context;
using quern::fork_join;
using quern::stack_class;
using quern_test::scaled;

constexpr long k_depth = scaled(1'000'000L, 20'000L);

struct depth_setting {
    unsigned workers;
    stack_class stacks;

    friend std::ostream& operator<<(std::ostream& out, const depth_setting& s) {
        return out << s.workers << (s.stacks == stack_class::small ? "_small" : "_medium");
    }
};

class fork_join_depth : public testing::TestWithParam<depth_setting> {
protected:
    static quern::runtime_options options() {
        auto wanted = quern::runtime_options::with_workers(GetParam().workers);
        wanted.pools.front().stacks = GetParam().stacks;
        return wanted;
    }

    template <class F>
    auto inside(F f) {
        return quern::async(rt, f).get();
    }

    /// Eight workers on two cores disturb the recursion; speed does not matter.
    static long depth() { return GetParam().workers == 8 ? k_depth / 5 : k_depth; }

    quern::runtime rt{options()};
};

INSTANTIATE_TEST_SUITE_P(
    on, fork_join_depth,
    testing::Values(depth_setting{1, stack_class::small}, depth_setting{1, stack_class::medium},
                    depth_setting{2, stack_class::small}, depth_setting{2, stack_class::medium},
                    depth_setting{8, stack_class::small}, depth_setting{8, stack_class::medium}),
    testing::PrintToStringParamName());

long second_recurses(long depth) {
    if (depth == 0) {
        return 0;
    }
    const auto [one, rest] =
        fork_join([] { return 1L; }, [depth] { return second_recurses(depth - 1); });
    return one + rest;
}

// Holds: fork_join: A recursion may have any depth, in either function, with or without context,
//     and end in an exception.
TEST_P(fork_join_depth, is_not_limited_when_the_second_function_recurses) {
    EXPECT_EQ(inside([] { return second_recurses(depth()); }), depth());
}

long second_recurses_with_context(fork_context c, long depth) {
    if (depth == 0) {
        return 0;
    }
    const auto [one, rest] = fork_join(
        c, [] { return 1L; },
        [depth](fork_context d) { return second_recurses_with_context(d, depth - 1); });
    return one + rest;
}

// Holds: fork_join: A recursion may have...
TEST_P(fork_join_depth, is_not_limited_with_explicit_context) {
    EXPECT_EQ(inside([] {
                  return fork_join(
                      [] {},
                      [](fork_context c) { return second_recurses_with_context(c, depth()); });
              }),
              depth());
}

long second_recurses_and_throws(long depth) {
    if (depth == 0) {
        throw std::runtime_error("at the bottom");
    }
    return fork_join([] {}, [depth] { return second_recurses_and_throws(depth - 1); });
}

// Holds: fork_join: A recursion may have...
TEST_P(fork_join_depth, is_not_limited_for_exceptions) {
    // An exception is caught and thrown again at every level: 1-2 us each.
    constexpr long k_throwing_depth = scaled(50'000L, 2'000L);
    EXPECT_THROW(inside([] { return second_recurses_and_throws(k_throwing_depth); }),
                 std::runtime_error);
}

long first_recurses(long depth) {
    if (depth == 0) {
        return 0;
    }
    const auto [rest, one] =
        fork_join([depth] { return first_recurses(depth - 1); }, [] { return 1L; });
    return rest + one;
}

// Holds: fork_join: A recursion may have...
TEST_P(fork_join_depth, is_not_limited_when_the_first_function_recurses) {
    EXPECT_EQ(inside([] { return first_recurses(depth()); }), depth());
}

}  // namespace
