// SPDX-License-Identifier: BSL-1.0
// wake_latency: a task that has been busy for 5 ms, so that all other workers sleep, spawns a task
// and stays busy. Value: us until the new task starts, on another worker. wake_latency_outside: the
// same from a thread outside the runtime, after 5 ms of sleep. If no worker starts the task, the
// value is the time after which the spawner helps itself. Size: the number of wake-ups.
#pragma once

#include "../harness/figures.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace bench::wake_latency {

constexpr double k_idle = 5e-3;  // long enough for workers that spin before they sleep
constexpr double k_patience = 5e-3;

class wake_up {
public:
    void stay_busy() const {
        const double until = now() + k_idle;
        while (now() < until) {
        }
    }
    void sleep() const { std::this_thread::sleep_for(std::chrono::duration<double>(k_idle)); }

    /// Called directly before the task is spawned.
    void spawns() { m_spawned = now(); }

    /// The task.
    void starts() noexcept { m_started.store(now(), std::memory_order_relaxed); }

    /// Stays busy until the task has started, or until a limit.
    void watch() const {
        const double until = m_spawned + k_patience;
        while (m_started.load(std::memory_order_relaxed) == 0 && now() < until) {
        }
    }

    /// Called when the task has ended.
    double microseconds() const {
        return (m_started.load(std::memory_order_relaxed) - m_spawned) * 1e6;
    }

private:
    double m_spawned = 0;
    std::atomic<double> m_started{0};
};

/// `one(wake_up)` spawns a task and waits for its end.
template <class One>
measurement wake_ups(long count, One one) {
    std::vector<double> latencies;
    for (long i = 0; i < count; ++i) {
        wake_up w;
        one(w);
        expect_equal("whether it has started", w.microseconds() >= 0, true);
        latencies.push_back(w.microseconds());
    }
    return of_samples(latencies);
}

}  // namespace bench::wake_latency
