// SPDX-License-Identifier: BSL-1.0
// Shared by the tests of stop tokens of calls: what the called functions count, and one that waits.
#pragma once

#include "on_job.hpp"

#include <quern/sync/event.hpp>
#include <quern/task/this_task.hpp>

#include <atomic>
#include <chrono>
#include <optional>
#include <stop_token>

namespace quern_test {

/// Of functions called here since the session began.
inline std::atomic<int> g_stop_begun{0};
inline std::atomic<int> g_stop_ended{0};

class on_job_with_stops : public on_workers {
protected:
    on_job_with_stops() {
        g_stop_begun = 0;
        g_stop_ended = 0;
        m_job.emplace(GetParam());
    }
    void end_job() { m_job->end(); }

private:
    std::optional<own_job> m_job;
};

inline bool is_stopped(const std::stop_token& stop) { return stop.stop_requested(); }

/// Returns whether it was stopped within a minute.
inline bool wait_by_event(const std::stop_token& stop) {
    const quern::event never;
    ++g_stop_begun;
    const bool was_set = never.wait_for(stop, std::chrono::minutes(1));
    ++g_stop_ended;
    return !was_set && stop.stop_requested();
}

/// Returns when so many calls of wait_by_event have begun at that locality.
inline void wait_until_begun(int where, int calls) {
    const auto wait = [](int wanted) {
        while (g_stop_begun < wanted) {
            quern::this_task::yield();
        }
    };
    quern::localities::run_at(where, wait, calls).get();
}

class stop_target {
public:
    bool wait(const std::stop_token& stop) { return wait_by_event(stop); }
    void wait_and_count(const std::stop_token& stop) { m_stopped += wait_by_event(stop) ? 1 : 0; }
    int stopped() const { return m_stopped; }

    template <class Archive>
    void serialize(Archive& archive) {
        archive(m_stopped);
    }

private:
    int m_stopped = 0;
};

}  // namespace quern_test
