// SPDX-License-Identifier: BSL-1.0
// What /statistics{counter}/… knows of a counter over time: samples that the thread for time takes
// at intervals. Used by derived.cpp; the samples of one counter are never taken by two threads at a
// time.
#pragma once

#include "core/derived.hpp"

#include <quern/counters/counter.hpp>
#include <quern/scheduler/detail/periodic_call.hpp>

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

namespace quern::counters::detail {

/// What a median is taken of, at most: the youngest samples (guessed: seven minutes at 100 ms).
inline constexpr std::size_t k_median_samples = 4096;

/// Numbers as they came; the memory is limited.
class sample_log {
public:
    explicit sample_log(std::size_t window) : m_window(window) {}

    void add(double sample);
    void clear();

    std::size_t count() const noexcept { return m_count; }
    double average() const noexcept { return m_mean; }
    double stddev() const noexcept;
    double min() const noexcept { return m_min; }
    double max() const noexcept { return m_max; }
    /// The youngest ones, the youngest last: at least those of the window, if there are as many.
    std::vector<double> youngest(std::size_t most) const;
    std::size_t window() const noexcept { return m_window; }

private:
    std::size_t m_window;
    std::size_t m_count = 0;
    double m_mean = 0.0;
    double m_squares = 0.0;  ///< of the distances from the mean (Welford's algorithm)
    double m_min = 0.0;
    double m_max = 0.0;
    std::deque<double> m_youngest;
};

/// A counter that is sampled, from construction to destruction.
class sampled_counter {
public:
    sampled_counter(counter_set&& only, const statistic_request& how);
    sampled_counter(const sampled_counter&) = delete;
    sampled_counter& operator=(const sampled_counter&) = delete;

    /// Name and unit are the caller's to fill in.
    counter_value value() const;
    /// Forgets all samples, and the counter counts from now.
    void reset();

private:
    void sample();

    const statistic_request m_how;
    mutable std::mutex m_lock;
    counter_set m_set;
    sample_log m_log;
    counter_value m_fault;                                  ///< the last value that was unavailable
    std::optional<quern::detail::periodic_call> m_samples;  ///< uses the members above
};

}  // namespace quern::counters::detail
