// SPDX-License-Identifier: BSL-1.0
// Sampling counters, and what is kept of the samples.
#include "core/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace quern::counters::detail {

void sample_log::add(double sample) {
    m_min = m_count == 0 ? sample : std::min(m_min, sample);
    m_max = m_count == 0 ? sample : std::max(m_max, sample);
    ++m_count;
    const double distance = sample - m_mean;
    m_mean += distance / static_cast<double>(m_count);
    m_squares += distance * (sample - m_mean);
    m_youngest.push_back(sample);
    if (m_youngest.size() > std::max(m_window, k_median_samples)) {
        m_youngest.pop_front();
    }
}

void sample_log::clear() { *this = sample_log(m_window); }

double sample_log::stddev() const noexcept {
    return m_count == 0 ? 0.0 : std::sqrt(m_squares / static_cast<double>(m_count));
}

std::vector<double> sample_log::youngest(std::size_t most) const {
    const std::size_t n = std::min(most, m_youngest.size());
    return {m_youngest.end() - static_cast<std::ptrdiff_t>(n), m_youngest.end()};
}

sampled_counter::sampled_counter(counter_set&& only, const statistic_request& how)
    : m_how(how), m_set(std::move(only)), m_log(how.window) {
    m_samples.emplace("/statistics", how.interval, [this] { sample(); });
}

void sampled_counter::sample() {
    const quern::detail::off_the_clock at_the_program(m_set.calls_program());
    const std::scoped_lock guard(m_lock);
    const counter_value now = m_set.evaluate(m_how.resets).values.front();
    if (now.ok()) {
        m_log.add(now.value);
    } else {
        m_fault = now;
    }
}

counter_value sampled_counter::value() const {
    counter_value result;
    result.state = source_state::absent;
    if (m_samples->inherited()) {
        result.why = "it is sampled in the process that this one was forked from";
        return result;
    }
    const std::scoped_lock guard(m_lock);
    if (m_log.count() != 0) {
        result.state = source_state::ok;
        result.value = m_how.how->of(m_log);
    } else if (!m_fault.ok()) {
        result.state = m_fault.state;
        result.why = m_fault.why;
    } else {
        result.state = source_state::not_yet;
        result.why =
            "no sample yet; there is one every " + std::to_string(m_how.interval.count()) + " ms";
    }
    return result;
}

void sampled_counter::reset() {
    if (m_samples->inherited()) {
        return;
    }
    const std::scoped_lock guard(m_lock);
    m_log.clear();
    m_set.reset();
}

}  // namespace quern::counters::detail
