// SPDX-License-Identifier: BSL-1.0
// Shared by the tests of co_await in this layer: a runtime that reports when it is quiet, and
// threads outside that are known to wait.
#pragma once

#include <quern/scheduler/task_report.hpp>
#include <quern/task/async.hpp>
#include <quern/task/coroutine.hpp>

#include "unit/scheduler/on_runtime.hpp"
#include "unit/task/foreign.hpp"

#include <cstddef>
#include <string>
#include <thread>
#include <vector>

namespace quern_test {

class on_coroutines : public on_runtime {
protected:
    /// Waits until the runtime is quiet: all tasks that wait have been queued then.
    void settle() {
        while (!rt.default_pool().get().quiet()) {
            std::this_thread::yield();
        }
    }

    /// Waits until that many threads outside sleep; they are queued before they sleep.
    static void await_threads_waiting(std::size_t count) {
        const std::string words = std::to_string(count) +
                                  (count == 1 ? " thread outside waits" : " threads outside wait");
        EXPECT_TRUE(
            eventually([&] { return quern::task_report().find(words) != std::string::npos; }));
    }

    /// Coroutines, tasks and threads outside come in turns, each when the previous one waits:
    /// `coroutine(i)` makes a task<>, a task or a thread calls `blocks(i)`.
    template <class Coroutine, class Blocks>
    void come_in_turns(int count, Coroutine coroutine, Blocks blocks) {
        for (int i = 0; i < count; ++i) {
            switch (i % 3) {
                case 0:
                    m_ended.push_back(quern::start(rt, coroutine(i)));
                    break;
                case 1:
                    m_ended.push_back(quern::async(rt, [blocks, i] { blocks(i); }));
                    break;
                default:
                    m_threads.emplace_back([blocks, i] { blocks(i); });
                    await_threads_waiting(m_threads.size());
            }
            settle();
        }
    }

    /// Waits until all of them have ended.
    void let_all_end() {
        for (auto& each : m_ended) {
            each.get();
        }
        for (std::thread& each : m_threads) {
            each.join();
        }
    }

private:
    std::vector<quern::future<void>> m_ended;
    std::vector<std::thread> m_threads;
};

}  // namespace quern_test
