// SPDX-License-Identifier: BSL-1.0
// The products while the blocks of B go round: by one thread with exchanges between products, and
// by tasks, with one renamed buffer or with two buffers in turns.
#pragma once

#include "../common/messages.hpp"
#include "blocks.hpp"

#include <quern/dependences/block.hpp>
#include <quern/dependences/domain.hpp>
#include <quern/dependences/renamed.hpp>

#include <mpi.h>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace ring {

using apps::mpi::message;

/// The block of a step to the left, the next one from the right.
inline void exchange(const problem& p, std::size_t step, const double* from, double* to) {
    const int tag = static_cast<int>(step);
    MPI_Sendrecv(from, p.numbers_in_step(step), MPI_DOUBLE, p.left(), tag, to,
                 p.numbers_in_step(step + 1), MPI_DOUBLE, p.right(), tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

inline void by_plain_calls(problem& p) {
    std::vector<double> now = p.first_block;
    std::vector<double> next(now.size());
    for (std::size_t step = 0; step < p.steps(); ++step) {
        p.multiply_all(step, now.data());
        if (step + 1 < p.steps()) {
            exchange(p, step, now.data(), next.data());
            std::swap(now, next);
        }
    }
}

/// A task for each tile of C, which reads the block in the buffer.
template <class Buffer>
void spawn_products(quern::domain& work, problem& p, std::size_t step, Buffer& buffer) {
    for (std::size_t i = 0; i < p.tile_rows(); ++i) {
        for (std::size_t j = 0; j < p.tile_columns(); ++j) {
            const auto tile = quern::block(p.tile(i, j), static_cast<std::ptrdiff_t>(p.n()),
                                           static_cast<std::ptrdiff_t>(p.height(i)),
                                           static_cast<std::ptrdiff_t>(p.width(j)));
            work.spawn(
                {.name = "product"}, quern::in(buffer), quern::inout(tile),
                [&p, step, i, j](auto block, auto) { p.multiply(step, block.data(), i, j); });
        }
    }
}

/// The program has one buffer; the receipt of the next block gets another version of it, while
/// tasks read this one.
inline void by_tasks_renamed(problem& p) {
    std::vector<double> block = p.first_block;
    quern::renamed buffer(block);
    quern::domain work;
    for (std::size_t step = 0; step < p.steps(); ++step) {
        const int tag = static_cast<int>(step);
        if (step + 1 < p.steps()) {
            work.spawn({.name = "send", .rank = 1, .communication = true}, quern::in(buffer),
                       [&p, step, tag, one = message()](auto from) mutable {
                           one.send(from.data(), p.numbers_in_step(step), p.left(), tag);
                       });
        }
        spawn_products(work, p, step, buffer);
        if (step + 1 < p.steps()) {
            work.spawn({.name = "receive", .rank = 2, .communication = true}, quern::out(buffer),
                       [&p, step, tag, one = message()](auto to) mutable {
                           one.receive(to.data(), p.numbers_in_step(step + 1), p.right(), tag);
                       });
        }
    }
    work.taskwait();
}

/// The same by hand: the block of the next step comes into the other buffer.
inline void by_tasks_two_buffers(problem& p) {
    std::array<std::vector<double>, 2> buffers{p.first_block,
                                               std::vector<double>(p.first_block.size())};
    quern::domain work;
    for (std::size_t step = 0; step < p.steps(); ++step) {
        std::vector<double>& now = buffers[step % 2];
        std::vector<double>& next = buffers[1 - step % 2];
        if (step + 1 < p.steps()) {
            work.spawn({.name = "exchange", .rank = 1, .communication = true}, quern::in(now),
                       quern::out(next), [&p, step, one = message()](auto from, auto to) mutable {
                           one.exchange(from.data(), p.numbers_in_step(step), p.left(), to.data(),
                                        p.numbers_in_step(step + 1), p.right(),
                                        static_cast<int>(step));
                       });
        }
        spawn_products(work, p, step, now);
    }
    work.taskwait();
}

}  // namespace ring
