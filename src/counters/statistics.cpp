// SPDX-License-Identifier: BSL-1.0
// The thread that samples counters, and what is kept of the samples.
#include "statistics.hpp"

#include "tables.hpp"

#include <quern/scheduler/quiet_thread.hpp>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <optional>
#include <utility>

namespace quern::counters::detail {

using time_point = quern::detail::quiet_thread::clock::time_point;

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

class sampler {
public:
    void add(sampled_counter& one) {
        const std::scoped_lock guard(m_lock);
        if (!m_thread) {
            m_thread.emplace("quern/sample", one.m_due, [this] { return sample_due(); });
        } else {
            m_thread->hurry(one.m_due);
        }
        m_all.push_back(&one);
    }

    /// When it returns the counter is not sampled any more.
    void remove(sampled_counter& one) noexcept {
        std::unique_lock guard(m_lock);
        std::erase(m_all, &one);
        m_done.wait(guard, [&] { return m_busy != &one; });
    }

    /// Of the process that this one has been forked from: its thread and its locks are not here.
    bool inherited() const noexcept { return m_generation != quern::detail::fork_generation(); }

private:
    /// The lock is not held while a counter is read.
    time_point sample_due() {
        std::unique_lock guard(m_lock);
        const time_point now = quern::detail::quiet_thread::clock::now();
        for (;;) {
            const auto due = std::find_if(m_all.begin(), m_all.end(),
                                          [now](const auto* each) { return each->m_due <= now; });
            if (due == m_all.end()) {
                break;
            }
            m_busy = *due;
            guard.unlock();
            m_busy->sample();
            guard.lock();
            while (m_busy->m_due <= now) {
                m_busy->m_due += m_busy->m_how.interval;
            }
            m_busy = nullptr;
            m_done.notify_all();
        }
        time_point next = time_point::max();
        for (const sampled_counter* each : m_all) {
            next = std::min(next, each->m_due);
        }
        return next;
    }

    const unsigned m_generation = quern::detail::fork_generation();
    std::mutex m_lock;
    std::condition_variable m_done;
    std::vector<sampled_counter*> m_all;
    sampled_counter* m_busy = nullptr;
    std::optional<quern::detail::quiet_thread> m_thread;  ///< the last member: it uses the others
};

sampled_counter::sampled_counter(counter_set&& only, const statistic_request& how)
    : m_how(how),
      m_set(std::move(only)),
      m_log(how.window),
      m_due(quern::detail::quiet_thread::clock::now() + how.interval),
      m_sampler(sampler_of_process()) {
    m_sampler->add(*this);
}

sampled_counter::~sampled_counter() {
    if (!m_sampler->inherited()) {
        m_sampler->remove(*this);
    }
}

void sampled_counter::sample() {
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
    if (m_sampler->inherited()) {
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
        result.why =
            "no sample yet; there is one every " + std::to_string(m_how.interval.count()) + " ms";
    }
    return result;
}

void sampled_counter::reset() {
    if (m_sampler->inherited()) {
        return;
    }
    const std::scoped_lock guard(m_lock);
    m_log.clear();
    m_set.reset();
}

std::shared_ptr<sampler> make_sampler() { return std::make_shared<sampler>(); }
bool is_inherited(const sampler& one) noexcept { return one.inherited(); }

}  // namespace quern::counters::detail
