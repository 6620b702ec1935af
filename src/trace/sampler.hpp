// SPDX-License-Identifier: BSL-1.0
// A thread that looks at process and workers every 10 ms while somebody records: resident memory,
// how many workers run tasks, tasks per second. A long run is looked at less often, so that the
// series stay short.
#pragma once

#include <quern/scheduler/runtime.hpp>
#include <quern/trace/recording.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace quern::trace::detail {

class sampler {
public:
    /// Throws std::system_error when there is no thread.
    explicit sampler(std::vector<pool_ref> pools);
    ~sampler() { stop(); }
    sampler(const sampler&) = delete;
    sampler& operator=(const sampler&) = delete;

    /// Ends the thread; what it has seen, in nanoseconds since it was made.
    std::vector<series> stop();

private:
    void run();
    void look(double seconds);
    void thin_out();
    std::uint64_t tasks() const;

    const std::vector<pool_ref> m_pools;
    const std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
    std::chrono::milliseconds m_interval{10};
    std::uint64_t m_last_tasks = 0;
    std::vector<series> m_seen;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    bool m_stop = false;
    std::thread m_thread;
};

}  // namespace quern::trace::detail
