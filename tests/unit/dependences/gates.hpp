// SPDX-License-Identifier: BSL-1.0
// What tests of dependences wait for in a task.
#pragma once

#include <quern/task/this_task.hpp>

#include <atomic>
#include <chrono>

namespace quern_test {

/// As a task: its worker continues. False: it has not opened for a time far above the expected one.
inline bool opens(const std::atomic<bool>& gate) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!gate) {
        if (std::chrono::steady_clock::now() > limit) {
            return false;
        }
        quern::this_task::yield();
    }
    return true;
}

}  // namespace quern_test
