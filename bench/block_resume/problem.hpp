// SPDX-License-Identifier: BSL-1.0
// block_resume: tasks in a ring; each waits for the token, computes a little with it and hands it
// on, so that for every step one blocks and one is resumed. Two tasks: a ping-pong. ns for a step,
// i.e. one blocking and one resumption. Size: the tasks.
#pragma once

#include "../harness/figures.hpp"

#include <algorithm>
#include <memory>

namespace bench::block_resume {

constexpr long k_steps = 100'000;
constexpr long k_steps_of_threads = 20'000;  // their steps cost up to 100 times as much

/// What goes round. Only the task that has the token touches it.
struct token {
    long steps = 0;
    double value = 1;  // inexact arithmetic: a switch may have to care about its flags
    double first_lap_ended = 0;
    double ended = 0;
};

/// A ring of places of type Place, which have wait() and signal(), each for one task.
template <class Place>
class ring {
public:
    ring(long size, long steps)
        : m_size(size),
          m_laps(std::max(2L, steps / size)),
          m_places(std::make_unique<Place[]>(static_cast<std::size_t>(size))) {}

    /// Task i of the ring.
    void take_part(long i) {
        for (long lap = 0; lap < m_laps; ++lap) {
            m_places[i].wait();
            if (i == 0 && lap == 1) {
                m_token.first_lap_ended = now();
            }
            m_token.value = m_token.value / 3 + 1;
            ++m_token.steps;
            if (i == m_size - 1 && lap == m_laps - 1) {
                m_token.ended = now();
            } else {
                m_places[(i + 1) % m_size].signal();
            }
        }
    }

    /// Before, while or after the tasks begin.
    void put_token() { m_places[0].signal(); }

    /// When all tasks have ended. The first lap, in which tasks begin, does not count.
    measurement result() const {
        expect_equal("the number of steps", m_token.steps, m_size * m_laps);
        const double seconds = m_token.ended - m_token.first_lap_ended;
        return per_step({seconds, 1, {}}, m_size * (m_laps - 1));
    }

private:
    long m_size;
    long m_laps;
    std::unique_ptr<Place[]> m_places;
    token m_token;
};

}  // namespace bench::block_resume
