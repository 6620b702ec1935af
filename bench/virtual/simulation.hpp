// SPDX-License-Identifier: BSL-1.0
// A run in virtual time: a pool on a machine, and a body that worker 0 runs while all others look
// for work. The rows of the benchmark are such bodies.
#pragma once

#include "fork.hpp"

#include <cstdint>
#include <functional>

namespace virtual_time {

/// What happened in the timed part.
struct run_figures {
    picoseconds took = 0;
    /// Until the last of the workers that took part began its first item.
    picoseconds all_at_work = 0;
    unsigned took_part = 0;        ///< workers, with the one that began
    std::uint64_t vain_wakes = 0;  ///< of workers that found nothing and slept again
    machine::figures counted;
    // Of the whole run:
    std::uint64_t stolen = 0;
    std::uint64_t parks = 0;
    std::uint64_t suspensions = 0;
};

class simulation {
public:
    /// Requires: workers > 0.
    simulation(const costs& c, const rules& r, unsigned workers, std::uint64_t seed)
        : m_pool(workers, r, seed), m_machine(c, seed) {}
    simulation(const simulation&) = delete;
    simulation& operator=(const simulation&) = delete;

    pool& workers() noexcept { return m_pool; }
    picoseconds now() const noexcept { return m_machine.now(); }

    /// Runs `body` on worker 0 until it returns. Called once. Returns the figures of the last timed
    /// part, and those of the whole run.
    run_figures run(const std::function<void(fork_place)>& body);

    // -- for the body --------------------------------------------------------------------------

    /// Takes time without an access.
    static void compute(picoseconds t) noexcept { machine::running()->spend(t); }
    void begin_timing() noexcept;
    /// Figures since the last begin_timing(), but for those of the whole run.
    run_figures end_timing() noexcept;

private:
    pool m_pool;
    machine m_machine;
    run_figures m_figures;
    std::uint64_t m_vain_before = 0;
    machine::figures m_before;
    atomic<std::uint32_t> m_turn{0};
};

}  // namespace virtual_time
