// SPDX-License-Identifier: BSL-1.0
// The kernels on Quern: tasks ordered by their blocks, and loops with barriers. Called by the
// application and by bench/stream.
#pragma once

#include "arrays.hpp"

#include <quern/algorithms/parallel_for.hpp>
#include <quern/dependences/domain.hpp>

#include <cstddef>

namespace stream {

inline void run_by_tasks(arrays& x, std::size_t side, int iterations) {
    using quern::in;
    using quern::out;
    quern::domain work;
    for (int i = 0; i < iterations; ++i) {
        for (std::size_t b = 0; b < x.size(); b += side) {
            work.spawn({.name = "copy"}, in(x.a(b, side)), out(x.c(b, side)), copy);
        }
        for (std::size_t b = 0; b < x.size(); b += side) {
            work.spawn({.name = "scale"}, in(x.c(b, side)), out(x.b(b, side)), scale);
        }
        for (std::size_t b = 0; b < x.size(); b += side) {
            work.spawn({.name = "add"}, in(x.a(b, side)), in(x.b(b, side)), out(x.c(b, side)), add);
        }
        for (std::size_t b = 0; b < x.size(); b += side) {
            work.spawn({.name = "triad"}, in(x.b(b, side)), in(x.c(b, side)), out(x.a(b, side)),
                       triad);
        }
    }
    work.taskwait();
}

inline void run_with_barriers(arrays& x, std::size_t side, int iterations) {
    const std::size_t blocks = (x.size() + side - 1) / side;
    const auto each_block = [&](auto kernel) {
        quern::parallel_for(std::size_t{0}, blocks, quern::grain::fixed(1),
                            [&](std::size_t i) { kernel(i * side); });
    };
    for (int i = 0; i < iterations; ++i) {
        each_block([&](std::size_t b) { copy(x.a(b, side), x.c(b, side)); });
        each_block([&](std::size_t b) { scale(x.c(b, side), x.b(b, side)); });
        each_block([&](std::size_t b) { add(x.a(b, side), x.b(b, side), x.c(b, side)); });
        each_block([&](std::size_t b) { triad(x.b(b, side), x.c(b, side), x.a(b, side)); });
    }
}

}  // namespace stream
