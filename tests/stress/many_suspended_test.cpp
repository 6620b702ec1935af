// SPDX-License-Identifier: BSL-1.0
// A great many tasks that wait at once: they cost only the memory of their stacks.
#include "process.hpp"
#include "unit/scheduler/on_runtime.hpp"

#include <quern/task/promise.hpp>

#include <vector>

namespace {

using quern_test::resident_bytes;
using quern_test::thread_count;

constexpr int k_waiting = quern::detail::k_tsan   ? 2'000  // the sanitizer has room for about 8000
                          : quern::detail::k_asan ? 5'000
                                                  : 100'000;

class many_suspended : public testing::TestWithParam<unsigned> {
protected:
    static quern::runtime_options options() {
        auto wanted = quern::runtime_options::with_workers(GetParam());
        wanted.pools.front().stacks = quern::stack_class::small;
        return wanted;
    }

    bool all_wait() {
        return quern_test::eventually(
            [&] { return rt.totals().suspensions >= std::uint64_t{k_waiting}; },
            std::chrono::seconds(60));
    }

    quern::runtime rt{options()};
};

INSTANTIATE_TEST_SUITE_P(workers, many_suspended, testing::Values(1U, 2U, 8U),
                         testing::PrintToStringParamName());

TEST_P(many_suspended, on_one_shared_future) {
    quern::promise<int> p;
    const quern::shared_future<int> f = p.get_future();
    std::vector<quern::future<int>> tasks;
    tasks.reserve(k_waiting);
    for (int i = 0; i < k_waiting; ++i) {
        tasks.push_back(quern::async(rt, [f, i] { return f.get() + i; }));
    }
    ASSERT_TRUE(all_wait());
    // Besides the workers: main, the thread that answers queries from outside, a sanitizer's own.
    EXPECT_LE(thread_count(), GetParam() + 2 + (quern_test::k_sanitized ? 1 : 0));
    if (!quern_test::k_sanitized) {
        EXPECT_LT(resident_bytes(), 1'300U << 20);
    }
    p.set_value(1);
    for (int i = 0; i < k_waiting; ++i) {
        ASSERT_EQ(tasks[static_cast<std::size_t>(i)].get(), i + 1);
    }
}

TEST_P(many_suspended, each_on_a_promise_of_its_own) {
    constexpr std::size_t k_count = static_cast<std::size_t>(k_waiting) / 2;
    std::vector<quern::promise<std::size_t>> promises(k_count);
    std::vector<quern::future<std::size_t>> tasks;
    tasks.reserve(k_count);
    for (auto& p : promises) {
        tasks.push_back(quern::async(rt, [f = p.get_future()]() mutable { return f.get(); }));
    }
    for (std::size_t i = k_count; i-- > 0;) {
        promises[i].set_value(i);
    }
    for (std::size_t i = 0; i < k_count; ++i) {
        ASSERT_EQ(tasks[i].get(), i);
    }
}

}  // namespace
