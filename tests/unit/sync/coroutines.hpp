// SPDX-License-Identifier: BSL-1.0
// What the tests of co_await in this layer share: a runtime of which one knows when it has come to
// rest, and threads outside of which one knows that they wait.
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
    /// Waits until there is nothing to do: whoever is going to wait has been queued then.
    void settle() {
        while (!rt.default_pool().get().quiet()) {
            std::this_thread::yield();
        }
    }

    /// Waits until that many threads outside sleep; they have been queued before.
    static void await_threads_waiting(std::size_t count) {
        const std::string words = std::to_string(count) +
                                  (count == 1 ? " thread outside waits" : " threads outside wait");
        EXPECT_TRUE(
            eventually([&] { return quern::task_report().find(words) != std::string::npos; }));
    }

    /// Coroutines, tasks and threads outside come in turns, each when the one before waits:
    /// `coroutine(i)` makes a task<>, `blocks(i)` is called by a task or a thread.
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

    /// Waits until all that have come have ended.
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
