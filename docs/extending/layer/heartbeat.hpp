// SPDX-License-Identifier: BSL-1.0
// A task that calls a function at regular times. The example of docs/extending/layer.md; in a layer
// of its own it is include/quern/heartbeat/heartbeat.hpp.
#pragma once

#include <quern/task/future.hpp>

#include <atomic>
#include <chrono>
#include <functional>

namespace quern {

/// Calls `beat` every `period`, as a task of the default runtime, from the constructor to the
/// destructor, which waits for a call in progress.
/// Errors: std::bad_alloc. What `beat` throws ends the calls.
/// Thread safety: `beat` may run on any worker, one call at a time.
class heartbeat {
public:
    heartbeat(std::chrono::milliseconds period, std::function<void()> beat);
    ~heartbeat();
    heartbeat(const heartbeat&) = delete;
    heartbeat& operator=(const heartbeat&) = delete;

private:
    std::atomic<bool> m_ends = false;
    future<void> m_task;
};

}  // namespace quern
