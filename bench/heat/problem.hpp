// SPDX-License-Identifier: BSL-1.0
// heat: diffusion along a ring of points with the grids and the arithmetic of apps/heat: step by
// step over the whole ring (loops), or by tasks for partitions that run ahead as far as their
// neighbours permit. Size: the points; 20 steps, 50 from 10^8 points on. After each run the same
// threads copy one grid to the other, to measure the memory's bandwidth. Figures beside the time:
// the traffic of both in GB/s, 16 bytes a point, and their ratio in per cent. It may exceed 100: a
// partition that computes several steps in sequence finds its points in the cache.
#pragma once

#include "../../apps/heat/ring.hpp"
#include "../harness/harness.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bench::heat {

namespace ring = ::heat;

/// Calls f(i) for all i < n, in parallel.
using parallel_loop = std::function<void(std::size_t n, const std::function<void(std::size_t)>& f)>;

/// Two grids of n points and their division into partitions.
class rings {
public:
    /// One iteration of the loops: the best partition on machines with 1 to 2 MiB of L2.
    static constexpr std::size_t k_block = 10'000;

    explicit rings(const arguments& a, std::size_t partition = k_block)
        : m_workers(static_cast<std::size_t>(a.workers)),
          m_points(static_cast<std::size_t>(a.size)),
          m_partition(std::min(partition, m_points)),
          m_grids{ring::grid(m_points, ring::grid_role::first),
                  ring::grid(m_points, ring::grid_role::second)} {}

    int steps() const noexcept { return m_points >= 100'000'000 ? 50 : 20; }
    std::size_t points() const noexcept { return m_points; }
    std::size_t workers() const noexcept { return m_workers; }
    std::size_t partitions() const noexcept { return (m_points + m_partition - 1) / m_partition; }
    std::size_t partition_size() const noexcept { return m_partition; }

    /// The grid that step `step` writes; step 0 is the initial temperatures.
    double* grid(int step) noexcept { return m_grids[step % 2].data(); }
    /// A partition after a step; i may be one too small or too large.
    ring::partition part(std::size_t i, int step) noexcept {
        const std::size_t index = (i + partitions()) % partitions();
        return {grid(step) + index * m_partition,
                std::min(m_partition, m_points - index * m_partition)};
    }
    /// Computes a partition of a step from those of the previous step.
    void advance(std::size_t i, int step) noexcept {
        ring::advance(part(i + partitions() - 1, step - 1), part(i, step - 1),
                      part(i + 1, step - 1), grid(step) + i * m_partition);
    }

    /// The thread that works on a partition places its pages.
    void fill(std::size_t i) noexcept {
        const std::size_t begin = i * m_partition;
        for (std::size_t p = begin; p < begin + part(i, 0).size; ++p) {
            grid(0)[p] = ring::first_temperature(p);
            grid(1)[p] = 0;
        }
    }

    /// Compares some points with temperatures computed from the initial ones around them: on both
    /// sides of each border of blocks, and between.
    void check() {
        for (std::size_t begin = 0; begin < m_points; begin += k_block) {
            for (const std::size_t p : {begin, begin + k_block / 2, begin + k_block - 1}) {
                check_point(std::min(p, m_points - 1));
            }
        }
    }

private:
    void check_point(std::size_t p) {
        const auto around = static_cast<std::size_t>(steps());
        m_window.clear();
        for (std::size_t i = 0; i <= 2 * around; ++i) {
            m_window.push_back(
                ring::first_temperature((p + i + (m_points - around % m_points)) % m_points));
        }
        for (; m_window.size() > 1; m_window.resize(m_window.size() - 2)) {
            for (std::size_t i = 0; i + 2 < m_window.size(); ++i) {
                m_window[i] = ring::next_temperature(m_window[i], m_window[i + 1], m_window[i + 2]);
            }
        }
        const double found = grid(steps())[p];
        constexpr double k_rounding = 1e-9;  // of temperatures up to 100
        if (!(std::abs(found - m_window[0]) < k_rounding)) {
            throw wrong_answer("point " + std::to_string(p) + " has " + std::to_string(found) +
                               " degrees and not " + std::to_string(m_window[0]));
        }
    }

    std::size_t m_workers;
    std::size_t m_points;
    std::size_t m_partition;
    ring::grid m_grids[2];
    std::vector<double> m_window;
};

/// Seconds of a copy of one grid to the other, the best of several ways: in blocks with stores like
/// those of the sweep, or in one piece for each worker, which may be faster (stores that bypass the
/// cache).
inline double copy_seconds(rings& r, const parallel_loop& loop) {
    const auto copy = [&](std::size_t pieces) {
        const std::size_t size = (r.points() + pieces - 1) / pieces;
        const double start = now();
        loop(pieces, [&](std::size_t i) {
            const std::size_t begin = std::min(i * size, r.points());
            const std::size_t count = std::min(size, r.points() - begin);
            std::memcpy(r.grid(1) + begin, r.grid(0) + begin, count * sizeof(double));
        });
        return now() - start;
    };
    constexpr int k_times = 3;
    double best = copy(r.workers());
    for (int i = 0; i < k_times; ++i) {
        best = std::min({best, copy(r.workers()), copy(r.partitions())});
    }
    return best;
}

/// A repetition. sweep() does all steps.
inline measurement measured(rings& r, const parallel_loop& loop,
                            const std::function<void()>& sweep) {
    measurement m = timed_runs([&] {
        loop(r.partitions(), [&](std::size_t i) { r.fill(i); });
        const double start = now();
        sweep();
        const double seconds = now() - start;
        r.check();
        return seconds;
    });
    const double grid_gb = 2 * sizeof(double) * static_cast<double>(r.points()) / 1e9;
    m.more["heat_gb_s"] = grid_gb * r.steps() / m.value;
    m.more["copy_gb_s"] = grid_gb / copy_seconds(r, loop);
    m.more["percent_of_copy"] = 100 * m.more["heat_gb_s"] / m.more["copy_gb_s"];
    return m;
}

}  // namespace bench::heat
