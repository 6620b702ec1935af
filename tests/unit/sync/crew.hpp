// SPDX-License-Identifier: BSL-1.0
// Shared by the tests of this layer: a runtime whose tasks need only the scheduler, threads beside
// it, and ways to wait until all tasks and threads are at rest.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/task/this_task.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace quern_test {

/// Sanitizers are slow, and ThreadSanitizer has room for some thousand stacks only.
inline constexpr bool k_sanitized = quern::detail::k_asan || quern::detail::k_tsan;

/// A runtime and threads outside it. Its destructor waits for all of them.
class crew {
public:
    explicit crew(unsigned workers, quern::stack_class stacks = quern::stack_class::small)
        : m_runtime(options(workers, stacks)) {}
    ~crew() { finish(); }

    /// Starts a task. From outside and from tasks.
    void task(std::function<void()> body) {
        m_left.fetch_add(1, std::memory_order_relaxed);
        pool().make_ready(*new item(std::move(body), m_left));
    }

    /// Starts a thread. Only from the test's own thread.
    void thread(std::function<void()> body) { m_threads.emplace_back(std::move(body)); }

    /// Waits until all tasks and threads have ended.
    void finish() {
        for (std::thread& t : m_threads) {
            t.join();
        }
        m_threads.clear();
        while (const int left = m_left.load(std::memory_order_acquire)) {
            m_left.wait(left, std::memory_order_acquire);
        }
    }

    /// Waits until the runtime is quiet: all tasks that suspend have been queued then.
    void settle() {
        while (!pool().quiet()) {
            std::this_thread::yield();
        }
    }

    /// The same while timers are set: all tasks that suspend have been queued then, and resume at
    /// their time.
    void settle_but_for_timers() {
        while (!pool().at_rest(true)) {
            std::this_thread::yield();
        }
    }

    quern::runtime& runtime() noexcept { return m_runtime; }

private:
    struct item final : quern::detail::runnable {
        item(std::function<void()> f, std::atomic<int>& count)
            : runnable(run_item), body(std::move(f)), left(count) {}
        static quern::detail::context* run_item(quern::detail::work& w) {
            auto* self = static_cast<item*>(static_cast<runnable*>(&w));
            std::atomic<int>& count = self->left;
            self->body();
            delete self;
            if (count.fetch_sub(1, std::memory_order_acq_rel) == 1) {
                count.notify_all();
            }
            return nullptr;
        }
        std::function<void()> body;
        std::atomic<int>& left;
    };

    static quern::runtime_options options(unsigned workers, quern::stack_class stacks) {
        auto all = quern::runtime_options::with_workers(workers);
        all.pools.front().stacks = stacks;
        return all;
    }

    quern::detail::pool& pool() noexcept { return m_runtime.default_pool().get(); }

    std::atomic<int> m_left{0};
    quern::runtime m_runtime;
    std::vector<std::thread> m_threads;
};

/// Lets other tasks run: the caller is queued behind the ready ones.
inline void let_others_run() { quern::this_task::yield(); }

/// A test on runtimes of 1, 2 and 8 workers.
class on_workers : public testing::TestWithParam<unsigned> {
protected:
    crew all{GetParam()};
};

#define QUERN_ON_1_2_8_WORKERS(suite)                                     \
    INSTANTIATE_TEST_SUITE_P(workers, suite, testing::Values(1U, 2U, 8U), \
                             testing::PrintToStringParamName())

}  // namespace quern_test
