// SPDX-License-Identifier: BSL-1.0
// block_resume: tasks in a ring. Each waits for the token, computes a little with it and passes it
// to the next task, so each step has one blocking and one resumption. Two tasks are a ping-pong.
// Value: ns for a step. Size: the tasks.
#pragma once

#include "../harness/figures.hpp"

#include <memory>

namespace bench::block_resume {

constexpr double k_enough = 0.02;  // seconds

/// A ring of places of type Place, which has wait() and signal(), one place for each task.
template <class Place>
class ring {
public:
    explicit ring(long size)
        : m_size(size), m_places(std::make_unique<Place[]>(static_cast<std::size_t>(size))) {}

    /// Task i of the ring. It ends after the lap that the first task has declared the last.
    void take_part(long i) {
        for (bool is_last = false; !is_last;) {
            m_places[i].wait();
            if (i == 0) {
                begin_lap();
            }
            m_value = m_value / 3 + 1;
            ++m_steps;
            is_last = m_is_last_lap;
            if (i + 1 < m_size || !is_last) {
                m_places[(i + 1) % m_size].signal();
            } else {
                m_end = now();
            }
        }
    }

    /// Called before, while or after the tasks begin.
    void put_token() { m_places[0].signal(); }

    /// Called after all tasks. The first lap, in which tasks begin, does not count.
    measurement result() const {
        expect_equal("the number of steps", m_steps, m_size * m_laps);
        return per_step({m_end - m_start, 1, {}}, m_size * (m_laps - 1));
    }

private:
    void begin_lap() {
        ++m_laps;
        if (m_laps == 2) {
            m_start = now();
        }
        // The clock is read only every few steps.
        if (m_laps >= 2 && (m_size >= 100 || m_laps % 100 == 0)) {
            m_is_last_lap = now() - m_start > k_enough;
        }
    }

    long m_size;
    std::unique_ptr<Place[]> m_places;

    // The token. Only the task that holds it touches these.
    long m_laps = 0;
    long m_steps = 0;
    double m_value = 1;  // inexact arithmetic: a switch may have to save its flags
    bool m_is_last_lap = false;
    double m_start = 0;
    double m_end = 0;
};

}  // namespace bench::block_resume
