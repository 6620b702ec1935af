// SPDX-License-Identifier: BSL-1.0
// A thread that looks at process and workers every 10 ms while somebody records: resident memory,
// how many workers run tasks, tasks per second, and counters that the user names. A long run is
// looked at less often, so that the series stay short.
#pragma once

#include "chosen_series.hpp"

#include <quern/scheduler/census.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/trace/recording.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

namespace quern::trace::detail {

class sampler {
public:
    /// Of a runtime that lives until finish(). `counters` as chosen_series takes them. Throws
    /// std::system_error when there is no thread.
    explicit sampler(runtime& which, std::string_view counters = {});
    ~sampler() { finish(); }
    sampler(const sampler&) = delete;
    sampler& operator=(const sampler&) = delete;

    /// The last look, and the end of the thread. May be called again, and by several threads.
    void finish();

    /// The same; what was seen, in nanoseconds since it was made.
    std::vector<series> stop();

private:
    void run();
    using harmless = std::optional<quern::detail::harmless_thread>;

    std::uint64_t now_ns() const;
    void look(double seconds);
    void look_at_chosen(harmless& thread, bool is_last);
    void thin_out();
    std::uint64_t tasks() const;

    const std::vector<pool_ref> m_pools;
    const std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
    std::chrono::milliseconds m_interval{10};
    std::uint64_t m_last_tasks = 0;
    std::vector<series> m_seen;
    chosen_series m_chosen;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    bool m_stop = false;
    std::mutex m_finishing;
    std::thread m_thread;
};

}  // namespace quern::trace::detail
