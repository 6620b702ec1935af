// SPDX-License-Identifier: BSL-1.0
// The counters of the memory of tasks.
#include <quern/counters/counter.hpp>
#include <quern/task/async.hpp>
#include <quern/task/promise.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <cstddef>
#include <vector>

namespace {

namespace counters = quern::counters;

constexpr std::size_t k_count = 10'000;
constexpr double k_least = 48.0 * k_count;  // bytes: a state is no smaller

TEST(memory_of_tasks, follows_the_states_that_there_are) {
    const quern::runtime rt(quern::runtime_options::with_workers(2));
    quern::async(rt, [] {}).get();  // starts a worker; the memory then stays
    auto held = counters::create("/runtime/memory/tasks", rt);
    auto in_use = counters::create("/runtime/memory/tasks-in-use", rt);
    const auto before = in_use.value();
    if (quern::detail::k_asan || quern::detail::k_tsan) {
        EXPECT_FALSE(before.ok());
        EXPECT_NE(before.why.find("sanitizer"), std::string::npos);
        return;
    }
    {
        const std::vector<quern::promise<int>> many(k_count);
        EXPECT_GE(in_use.value().value, before.value + k_least);
        EXPECT_GE(held.value().value, in_use.value().value);
    }
    EXPECT_LT(in_use.value().value, before.value + k_least);
    EXPECT_GE(held.value().value, k_least);  // kept for later tasks while there are workers
}

}  // namespace
