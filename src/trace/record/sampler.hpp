// SPDX-License-Identifier: BSL-1.0
// Looks at process and workers every 10 ms during a recording, on the thread for time: resident
// memory, how many workers run tasks, how many have no processor, tasks per second, and counters
// that the user names. A long run is looked at less often, so that the series stay short. A look
// that is late though its thread did not wait for a processor tells that the process was stopped.
#pragma once

#include "record/chosen_series.hpp"

#include <quern/scheduler/detail/periodic_call.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/trace/recording.hpp>

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string_view>
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

    /// The last look. May be called again, and by several threads.
    void finish();

    /// The same; what was seen, in nanoseconds since it was made.
    std::vector<series> stop();

    /// How long the process was stopped by a signal, or frozen. Requires: finish() was called.
    double stopped_ns() const noexcept { return m_stopped_ns; }

private:
    using clock = quern::detail::periodic_call::clock;

    clock::time_point look();
    std::uint64_t now_ns() const;
    void look_at_system();
    void look_for_stop(clock::time_point now);
    void await_late_look() const;
    void look_at_losses(std::uint64_t at, double seconds);
    void look_at_chosen(void (chosen_series::*how)(std::uint64_t at_ns));
    void thin_out();
    std::uint64_t tasks() const;

    const std::vector<pool_ref> m_pools;
    const clock::time_point m_start = clock::now();
    clock::time_point m_last = m_start;  ///< when it was looked at
    std::chrono::milliseconds m_interval{10};
    std::uint64_t m_last_tasks = 0;
    std::optional<double> m_last_waited_ns{};
    /// Of the process and of the thread that looked, in a look. The next one may be on another.
    struct look_times {
        clock::time_point at;
        double process_ns;
        int thread;
        double thread_ns;  ///< in which it ran, or waited for a processor
    };
    std::optional<look_times> m_before{};
    std::atomic<clock::time_point> m_due{m_start};  ///< of the next look
    double m_stopped_ns = 0;
    std::vector<series> m_seen;
    chosen_series m_chosen;
    std::mutex m_finishing;
    std::optional<quern::detail::periodic_call> m_looks;  ///< the last member: it uses the others
};

}  // namespace quern::trace::detail
