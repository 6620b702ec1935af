// SPDX-License-Identifier: BSL-1.0
// The parallel computation of heat: the ring as partitions, and a task for each partition and step
// that starts when the three nearest ones of the step before are done. main.cpp runs it with one
// size of partition, tuning.hpp with several.
#pragma once

#include "ring.hpp"

#include "../common/measure.hpp"
#include "../common/progress.hpp"

#include <quern/quern.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

namespace heat {

using step_futures = std::vector<quern::shared_future<partition>>;

struct problem {
    std::size_t points = 1'000'000;
    std::size_t steps = 50;
    std::size_t partition_size = 50'000;
    std::size_t ahead = 0;  ///< steps described in advance; 0: automatic
    bool check = false;

    std::size_t partitions() const { return (points + partition_size - 1) / partition_size; }
    std::size_t first_of(std::size_t index) const { return index * partition_size; }
    std::size_t size_of(std::size_t index) const {
        return std::min(partition_size, points - first_of(index));
    }

    /// Steps described in advance: eight, but limited so that descriptions need at most half of the
    /// grids' memory.
    std::size_t window() const {
        constexpr std::size_t k_steps = 8;
        constexpr std::size_t k_task_bytes = 480;  // a dataflow of three, as malloc counts it
        const std::size_t fits = partition_size * sizeof(double) / k_task_bytes;
        return ahead != 0 ? ahead : std::clamp<std::size_t>(fits, 2, k_steps);
    }
};

inline void fill(const problem& p, grid& now, grid& later) {
    quern::parallel_for(std::size_t{0}, p.partitions(), quern::grain::fixed(1), [&](std::size_t j) {
        for (std::size_t i = p.first_of(j); i < p.first_of(j) + p.size_of(j); ++i) {
            now.data()[i] = first_temperature(i);
            later.data()[i] = 0;
        }
    });
}

inline double total_heat(const problem& p, const grid& g) {
    return quern::parallel_reduce(
        std::size_t{0}, p.partitions(), quern::grain::fixed(1), 0.0,
        [&](std::size_t j) {
            double sum = 0;
            for (std::size_t i = p.first_of(j); i < p.first_of(j) + p.size_of(j); ++i) {
                sum += g.data()[i];
            }
            return sum;
        },
        std::plus<>{});
}

/// The futures of the next step. Task (i, t+1) overwrites the data of step t-1 of partition i. Only
/// the tasks (i-1, t), (i, t) and (i+1, t) read that data, and task (i, t+1) waits for these three.
/// So two grids are enough, without further waits.
inline step_futures describe_step(const problem& p, const step_futures& now, double* out) {
    const std::size_t count = now.size();
    step_futures next(count);
    for (std::size_t i = 0; i < count; ++i) {
        auto update = [out = out + p.first_of(i)](const partition& left, const partition& middle,
                                                  const partition& right) {
            return advance(left, middle, right, out);
        };
        next[i] = quern::dataflow(quern::unwrapping(update), now[(i + count - 1) % count], now[i],
                                  now[(i + 1) % count]);
    }
    return next;
}

inline void wait_for(const step_futures& step) {
    for (const auto& each : step) {
        each.get();  // throws what a task has thrown
    }
}

/// The grids of all steps: step t is computed from that of t - 1 into the other one.
struct grids {
    explicit grids(std::size_t points)
        : now(points, grid_role::first), later(points, grid_role::second) {}
    grid now, later;

    const grid& after(std::size_t steps) const { return steps % 2 == 0 ? now : later; }
    grid& after(std::size_t steps) { return steps % 2 == 0 ? now : later; }
};

/// Describes `count` steps after the first `done` and waits for the last. Descriptions run ahead of
/// the computation by at most a window: when half of one has been described, the previous half must
/// be done. Half a window of work is always ready, so this is no barrier. Returns seconds spent on
/// describing.
inline double run_steps(const problem& p, grids& both, std::size_t done, std::size_t count,
                        apps::progress_bar& bar) {
    const std::size_t half = std::max<std::size_t>(1, p.window() / 2);
    double describing = 0;
    step_futures current(p.partitions());
    for (std::size_t i = 0; i < current.size(); ++i) {
        current[i] = quern::make_ready_future(
            partition{both.after(done).data() + p.first_of(i), p.size_of(i)});
    }
    step_futures milestone;
    for (std::size_t step = done + 1; step <= done + count; ++step) {
        describing +=
            apps::seconds_of([&] { current = describe_step(p, current, both.after(step).data()); });
        if ((step - done) % half == 0) {
            wait_for(milestone);
            milestone = current;
            bar.show(step, p.steps);
        }
    }
    wait_for(current);
    return describing;
}

}  // namespace heat
