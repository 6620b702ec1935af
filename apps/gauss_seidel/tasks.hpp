// SPDX-License-Identifier: BSL-1.0
// The sweeps on Quern: tasks ordered by their blocks, and loops with barriers. Called by the
// application and by bench/gauss_seidel.
#pragma once

#include "grid.hpp"

#include <quern/algorithms/parallel_for.hpp>
#include <quern/dependences/domain.hpp>

#include <algorithm>
#include <cstddef>

namespace gauss_seidel {

inline void sweep_by_tasks(grid& g, int sweeps) {
    using quern::in;
    quern::domain work;
    for (int s = 0; s < sweeps; ++s) {
        for (std::size_t i = 0; i < g.blocks(); ++i) {
            for (std::size_t j = 0; j < g.blocks(); ++j) {
                work.spawn({.name = "sweep"}, quern::inout(g.block(i, j)), in(g.above(i, j)),
                           in(g.left_of(i, j)), in(g.below(i, j)), in(g.right_of(i, j)),
                           [&g, i, j] { g.sweep(i, j); });
            }
        }
    }
    work.taskwait();
}

/// The blocks of a diagonal are a parallel loop; the next diagonal begins when all have ended.
inline void sweep_with_barriers(grid& g, int sweeps) {
    const std::size_t blocks = g.blocks();
    for (int s = 0; s < sweeps; ++s) {
        for (std::size_t d = 0; d + 1 < 2 * blocks; ++d) {
            const std::size_t first = d < blocks ? 0 : d - blocks + 1;
            quern::parallel_for(first, std::min(d, blocks - 1) + 1, quern::grain::fixed(1),
                                [&](std::size_t i) { g.sweep(i, d - i); });
        }
    }
}

}  // namespace gauss_seidel
