// SPDX-License-Identifier: BSL-1.0
// Memory is the only limit on the depth of recursion through any construct, on workers and on
// threads of the host, also with large frames, and on the destruction of long chains.
#include "unit/scheduler/on_runtime.hpp"
#include "ways_deeper.hpp"

#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

namespace {

using quern::stack_class;
using quern_test::scaled;
namespace deeper = quern_test::deeper;

constexpr std::size_t k_kib = 1024;
constexpr long k_depth = scaled(1'000'000L, 20'000L);
constexpr long k_large_depth = scaled(1'000L, 200L);  ///< with frames of 256 KiB: 256 MiB

quern::runtime_options with_stacks(unsigned workers, stack_class stacks) {
    auto wanted = quern::runtime_options::with_workers(workers);
    wanted.pools.front().stacks = stacks;
    return wanted;
}

template <class Way>
class deep_recursion : public testing::Test {
protected:
    /// On a worker of a runtime with 1 and with 2 workers.
    static void on_workers(long depth, std::size_t frame,
                           stack_class stacks = stack_class::medium) {
        for (const unsigned workers : {1U, 2U}) {
            quern::runtime rt(with_stacks(workers, stacks));
            const auto in_task = [=] { return deeper::descend<Way>(depth, frame); };
            EXPECT_EQ(quern::async(rt, in_task).get(), depth) << workers << " workers";
        }
    }
};

using ways =
    testing::Types<deeper::fork_join_second, deeper::fork_join_first, deeper::fork_join_of_three,
                   deeper::scope_body, deeper::scope_child, deeper::parallel_for,
                   deeper::parallel_reduce, deeper::pipeline, deeper::cutoff, deeper::task_group,
                   deeper::bounded_group, deeper::async, deeper::sync, deeper::deferred,
                   deeper::adaptive, deeper::continuation, deeper::promise, deeper::dataflow,
                   deeper::packaged_task, deeper::call_once, deeper::blocking,
                   deeper::foreign_coroutine, deeper::final_child, deeper::barrier_completion>;

struct name_of_way {
    template <class Way>
    static std::string GetName(int) {
        return Way::k_name;
    }
};
TYPED_TEST_SUITE(deep_recursion, ways, name_of_way);

// Holds: launch: sync, deferred: a recursion may have any depth, on workers and on threads outside,
//     and end in an exception.
// Holds: scope: A recursion through the body or a child may have any depth and frames of 256 KiB.
// Holds: parallel_for: Loops in loops may have any depth and frames of 256 KiB.
// Holds: parallel_reduce: Loops in loops may have any depth and frames of 256 KiB.
// Holds: cutoff: A recursion through it may have any depth.
// Holds: call_once: Calls with different flags may nest to any depth.
TYPED_TEST(deep_recursion, is_a_million_levels_deep) { this->on_workers(k_depth, 1); }

TYPED_TEST(deep_recursion, may_have_frames_of_40_KiB) {
    this->on_workers(2 * k_large_depth, 40 * k_kib);
}

// Holds: task_attributes: stack: a recursion through the runtime needs none, whatever the class,
//     with frames of up to 256 KiB; on large stacks with larger ones.
// Holds: scope: A recursion through the...
// Holds: parallel_for: Loops in loops may...
// Holds: parallel_reduce: Loops in loops may...
TYPED_TEST(deep_recursion, may_have_frames_of_256_KiB) {
    this->on_workers(k_large_depth, 256 * k_kib);
}

// Holds: task_attributes: stack: a recursion through...
TYPED_TEST(deep_recursion, may_have_frames_of_256_KiB_on_small_stacks) {
    this->on_workers(k_large_depth, 256 * k_kib, stack_class::small);
}

// Holds: task_attributes: stack: a recursion through...
TYPED_TEST(deep_recursion, may_have_larger_frames_on_large_stacks) {
    if (std::is_same_v<TypeParam, deeper::bounded_group> ||
        std::is_same_v<TypeParam, deeper::final_child>) {
        GTEST_SKIP() << "a task that runs beside its creator has a stack of the class it asks for";
    }
    quern::runtime rt(with_stacks(1, stack_class::medium));
    const auto in_task = [] { return deeper::descend<TypeParam>(100, 1'900 * k_kib); };
    EXPECT_EQ(quern::async({.stack = stack_class::large, .pool = &rt.default_pool().get()}, in_task)
                  .get(),
              100);
}

// Holds: launch: sync, deferred: a recursion...
// Holds: call_once: Calls with different flags...
TYPED_TEST(deep_recursion, may_begin_on_a_thread_of_the_host) {
    EXPECT_EQ(deeper::descend<TypeParam>(k_depth / 5, 1), k_depth / 5);
    std::thread([] {
        EXPECT_EQ(deeper::descend<TypeParam>(k_large_depth, 256 * k_kib), k_large_depth);
    }).join();
}

template <class Way>
long descend_and_throw(long depth) {
    if (depth == 0) {
        throw std::runtime_error("at the bottom");
    }
    return Way::call([depth] { return descend_and_throw<Way>(depth - 1) + 1; });
}

// Holds: launch: sync, deferred: a recursion...
TYPED_TEST(deep_recursion, may_end_by_an_exception) {
    // Each level catches and rethrows: microseconds, in some constructs several.
    constexpr long k_throwing_depth = scaled(20'000L, 2'000L);
    for (const unsigned workers : {1U, 2U}) {
        quern::runtime rt(quern::runtime_options::with_workers(workers));
        const auto in_task = [] { return descend_and_throw<TypeParam>(k_throwing_depth); };
        EXPECT_THROW(quern::async(rt, in_task).get(), std::runtime_error);
    }
    EXPECT_THROW(descend_and_throw<TypeParam>(k_throwing_depth), std::runtime_error);
}

}  // namespace
