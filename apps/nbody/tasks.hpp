// SPDX-License-Identifier: BSL-1.0
// The steps on Quern: tasks ordered by their blocks, and loops with barriers. Called by the
// application and by bench/nbody.
#pragma once

#include "bodies.hpp"

#include <quern/algorithms/parallel_for.hpp>
#include <quern/dependences/domain.hpp>

#include <cstddef>

namespace nbody {

inline void advance_by_tasks(bodies& all, int steps) {
    using quern::in;
    using quern::inout;
    quern::domain work;
    for (int s = 0; s < steps; ++s) {
        for (std::size_t i = 0; i < all.blocks(); ++i) {
            for (std::size_t j = 0; j < all.blocks(); ++j) {
                work.spawn({.name = "attract"}, inout(all.accelerations(i).numbers()),
                           in(all.positions(i).numbers()), in(all.positions(j).numbers()),
                           [&all, i, j] { all.attract(i, j); });
            }
        }
        for (std::size_t i = 0; i < all.blocks(); ++i) {
            work.spawn({.name = "move", .rank = 1}, inout(all.positions(i).numbers()),
                       inout(all.speeds(i).numbers()), inout(all.accelerations(i).numbers()),
                       [&all, i] { all.move(i); });
        }
    }
    work.taskwait();
}

/// Two parallel loops a step.
inline void advance_with_barriers(bodies& all, int steps) {
    const auto one = quern::grain::fixed(1);
    for (int s = 0; s < steps; ++s) {
        quern::parallel_for(std::size_t{0}, all.blocks(), one, [&](std::size_t i) {
            for (std::size_t j = 0; j < all.blocks(); ++j) {
                all.attract(i, j);
            }
        });
        quern::parallel_for(std::size_t{0}, all.blocks(), one, [&](std::size_t i) { all.move(i); });
    }
}

}  // namespace nbody
