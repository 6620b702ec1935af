// SPDX-License-Identifier: BSL-1.0
// The products while the blocks of B go round: by one thread with exchanges between products, by
// parallel loops between exchanges, and by tasks, with renamed buffers or with two buffers in
// turns.
#pragma once

#include "../common/messages.hpp"
#include "blocks.hpp"

#include <quern/algorithms/parallel_for.hpp>
#include <quern/dependences/block.hpp>
#include <quern/dependences/domain.hpp>
#include <quern/dependences/renamed.hpp>

#include <mpi.h>
#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace ring {

using apps::mpi::message;

/// A piece of the block of a step to the left, that of the next one from the right.
inline void exchange(const problem& p, std::size_t step, std::size_t piece, const double* from,
                     double* to) {
    const int tag = p.tag(step, piece);
    MPI_Sendrecv(from, p.numbers_in_step(step, piece), MPI_DOUBLE, p.left(), tag, to,
                 p.numbers_in_step(step + 1, piece), MPI_DOUBLE, p.right(), tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/// multiply(step, block) is over when it returns. Blocks go round in one piece.
template <class Multiply>
void by_steps(problem& p, const Multiply& multiply) {
    std::vector<double> now = p.first_block;
    std::vector<double> next(now.size());
    for (std::size_t step = 0; step < p.steps(); ++step) {
        multiply(step, now.data());
        if (step + 1 < p.steps()) {
            exchange(p, step, k_whole, now.data(), next.data());
            std::swap(now, next);
        }
    }
}

inline void by_plain_calls(problem& p) {
    by_steps(p, [&p](std::size_t step, const double* block) { p.multiply_all(step, block); });
}

/// A parallel loop over the tiles of C in each step; the calling thread exchanges.
inline void by_fork_join(problem& p) {
    by_steps(p, [&p](std::size_t step, const double* block) {
        quern::parallel_for(std::size_t{0}, p.tile_rows() * p.tile_columns(),
                            quern::grain::fixed(1), [&p, step, block](std::size_t t) {
                                p.multiply(step, k_whole, block, t / p.tile_columns(),
                                           t % p.tile_columns());
                            });
    });
}

/// Only the exchanges.
inline void by_messages_alone(problem& p) {
    by_steps(p, [](std::size_t, const double*) {});
}

/// A task for each tile of C, which reads the piece in the buffer.
template <class Buffer>
void spawn_products(quern::domain& work, problem& p, std::size_t step, std::size_t piece,
                    Buffer& buffer) {
    for (std::size_t i = 0; i < p.tile_rows(); ++i) {
        for (std::size_t j = 0; j < p.tile_columns(); ++j) {
            const auto tile = quern::block(p.tile(i, j), static_cast<std::ptrdiff_t>(p.n()),
                                           static_cast<std::ptrdiff_t>(p.height(i)),
                                           static_cast<std::ptrdiff_t>(p.width(j)));
            work.spawn({.name = "product"}, quern::in(buffer), quern::inout(tile),
                       [&p, step, piece, i, j](auto block, auto) {
                           p.multiply(step, piece, block.data(), i, j);
                       });
        }
    }
}

/// Messages under way at a time. If all were, they would share the network and arrive together, at
/// the end; if one were, the network would idle from its end to the beginning of the next one.
inline constexpr std::size_t k_under_way = 2;
using links = std::array<char, k_under_way>;

/// A buffer for each piece of the block; the receipt of the next one gets another version of it,
/// while tasks read this one.
inline void by_tasks_renamed(problem& p) {
    std::vector<std::unique_ptr<quern::renamed<std::vector<double>>>> buffers;
    for (std::size_t piece = 0; piece < p.pieces(); ++piece) {
        buffers.push_back(std::make_unique<quern::renamed<std::vector<double>>>(p.first_of(piece)));
    }
    links under_way{};
    quern::domain work;
    for (std::size_t step = 0; step < p.steps(); ++step) {
        for (std::size_t piece = 0; piece < p.pieces(); ++piece) {
            auto& buffer = *buffers[piece];
            const bool is_last = step + 1 == p.steps();
            if (!is_last) {
                work.spawn({.name = "send", .rank = 1, .communication = true}, quern::in(buffer),
                           quern::inout(under_way[piece % k_under_way]),
                           [&p, step, piece, one = message()](auto from, char&) mutable {
                               one.send(from.data(), p.numbers_in_step(step, piece), p.left(),
                                        p.tag(step, piece));
                           });
            }
            spawn_products(work, p, step, piece, buffer);
            if (!is_last) {
                work.spawn({.name = "receive", .rank = 2, .communication = true},
                           quern::out(buffer), [&p, step, piece, one = message()](auto to) mutable {
                               one.receive(to.data(), p.numbers_in_step(step + 1, piece), p.right(),
                                           p.tag(step, piece));
                           });
            }
        }
    }
    work.taskwait();
}

/// The same by hand: each piece of the next step comes into another buffer.
inline void by_tasks_two_buffers(problem& p) {
    std::array<std::vector<std::vector<double>>, 2> buffers;
    for (std::size_t piece = 0; piece < p.pieces(); ++piece) {
        buffers[0].push_back(p.first_of(piece));
        buffers[1].emplace_back(buffers[0].back().size());
    }
    links under_way{};
    quern::domain work;
    for (std::size_t step = 0; step < p.steps(); ++step) {
        for (std::size_t piece = 0; piece < p.pieces(); ++piece) {
            std::vector<double>& now = buffers[step % 2][piece];
            std::vector<double>& next = buffers[1 - step % 2][piece];
            if (step + 1 < p.steps()) {
                work.spawn({.name = "exchange", .rank = 1, .communication = true}, quern::in(now),
                           quern::out(next), quern::inout(under_way[piece % k_under_way]),
                           [&p, step, piece, one = message()](auto from, auto to, char&) mutable {
                               one.exchange(from.data(), p.numbers_in_step(step, piece), p.left(),
                                            to.data(), p.numbers_in_step(step + 1, piece),
                                            p.right(), p.tag(step, piece));
                           });
            }
            spawn_products(work, p, step, piece, now);
        }
    }
    work.taskwait();
}

}  // namespace ring
