// SPDX-License-Identifier: BSL-1.0
// What the tests of co_await in this layer share: a runtime of which one knows when it has come to
// rest, and threads outside of which one knows that they wait.
#pragma once

#include <quern/scheduler/task_report.hpp>

#include "unit/scheduler/on_runtime.hpp"
#include "unit/task/foreign.hpp"

#include <cstddef>
#include <string>
#include <thread>

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
};

}  // namespace quern_test
