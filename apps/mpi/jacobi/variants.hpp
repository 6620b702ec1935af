// SPDX-License-Identifier: BSL-1.0
// The sweeps: by plain loops, by parallel loops between exchanges, and by tasks ordered by their
// data, of which some send and receive. Each returns the changes that were reported.
#pragma once

#include "../common/messages.hpp"
#include "grid.hpp"

#include <quern/algorithms/parallel_for.hpp>
#include <quern/dependences/block.hpp>
#include <quern/dependences/domain.hpp>

#include <mpi.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace jacobi {

/// The outer rows of the rank to its neighbours, and theirs into the halo.
inline void exchange(grid& g, std::size_t copy) {
    const auto rows = static_cast<std::ptrdiff_t>(g.rows());
    const int n = static_cast<int>(g.n());
    MPI_Sendrecv(g.point(copy, 0, 0), n, MPI_DOUBLE, g.at().before(), 0, g.point(copy, rows, 0), n,
                 MPI_DOUBLE, g.at().after(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(g.point(copy, rows - 1, 0), n, MPI_DOUBLE, g.at().after(), 0, g.point(copy, -1, 0),
                 n, MPI_DOUBLE, g.at().before(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// A step at a time: sweep(from, reports) is over when it returns the largest change.
template <class Sweep>
std::vector<double> by_steps(grid& g, const plan& p, const Sweep& sweep_all) {
    std::vector<double> changes;
    for (std::size_t step = 0; step < p.steps; ++step) {
        double change = sweep_all(step % 2, p.reports(step));
        if (p.reports(step)) {
            MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            changes.push_back(change);
        }
        if (step + 1 < p.steps) {
            exchange(g, 1 - step % 2);
        }
    }
    return changes;
}

inline double sweep_either(const double* from, double* to, const shape& of, bool compares) {
    if (compares) {
        return sweep_and_compare(from, to, of);
    }
    sweep(from, to, of);
    return 0;
}

inline std::vector<double> by_plain_loops(grid& g, const plan& p) {
    return by_steps(g, p, [&g](std::size_t from, bool compares) {
        return sweep_either(g.point(from, 0, 0), g.point(1 - from, 0, 0), g.whole(), compares);
    });
}

/// Only the messages.
inline void by_messages_alone(grid& g, const plan& p) {
    by_steps(g, p, [](std::size_t, bool) { return 0.0; });
}

/// A parallel loop over the tiles in each step; the calling thread, which is no worker, exchanges.
inline std::vector<double> by_fork_join(grid& g, const plan& p) {
    return by_steps(g, p, [&g](std::size_t from, bool compares) {
        return quern::parallel_reduce(
            std::size_t{0}, g.tiles(), quern::grain::fixed(1), 0.0,
            [&g, from, compares](std::size_t t) {
                const std::size_t i = t / g.tile_columns();
                const std::size_t j = t % g.tile_columns();
                return sweep_either(g.tile(from, i, j), g.tile(1 - from, i, j), g.shape_of(i, j),
                                    compares);
            },
            [](double a, double b) { return std::max(a, b); });
    });
}

/// The tasks of all steps. A tile follows its neighbours of the step before; a part of the halo,
/// which is as wide as a tile, is one of them. Messages of a tile have its number as tag, and
/// another one for each copy: so a message is received before the next one with its tag is sent.
class task_maker {
public:
    task_maker(grid& g, const plan& p)
        : m_g(g), m_plan(p), m_parts(p.reports() * g.tiles()), m_changes(p.reports()) {}

    std::vector<double> run() {
        for (std::size_t step = 0; step < m_plan.steps; ++step) {
            sweep_all(step);
            if (m_plan.reports(step)) {
                report(step / m_plan.every);
            }
            if (step + 1 < m_plan.steps) {
                exchange_all(1 - step % 2);
            }
        }
        m_work.taskwait();
        return m_changes;
    }

private:
    auto region(std::size_t copy, std::size_t i, std::size_t j) {
        const shape s = m_g.shape_of(i, j);
        return quern::block(m_g.tile(copy, i, j), s.pitch, static_cast<std::ptrdiff_t>(s.rows),
                            static_cast<std::ptrdiff_t>(s.columns));
    }
    /// Of the row above or below the rank's, what is beside the tiles in column j.
    auto halo(std::size_t copy, bool is_above, std::size_t j) {
        const auto rows = static_cast<std::ptrdiff_t>(m_g.rows());
        double* const at = m_g.tile(copy, 0, j) + (is_above ? -1 : rows) * m_g.pitch();
        return quern::block(at, m_g.pitch(), 1, static_cast<std::ptrdiff_t>(m_g.width(j)));
    }
    auto nothing() { return quern::block(m_g.point(0, 0, 0), m_g.pitch(), 0, 0); }

    void sweep_all(std::size_t step) {
        using quern::in;
        const std::size_t from = step % 2;
        const bool compares = m_plan.reports(step);
        const std::size_t rows = m_g.tile_rows();
        const std::size_t columns = m_g.tile_columns();
        for (std::size_t i = 0; i < rows; ++i) {
            // Those whose rows are sent come first.
            const std::int16_t rank = i == 0 || i + 1 == rows ? 1 : 0;
            for (std::size_t j = 0; j < columns; ++j) {
                double* const part =
                    compares ? &m_parts[step / m_plan.every * m_g.tiles() + i * columns + j]
                             : nullptr;
                m_work.spawn({.name = "sweep", .rank = rank}, quern::out(region(1 - from, i, j)),
                             in(region(from, i, j)),
                             in(i > 0 ? region(from, i - 1, j) : halo(from, true, j)),
                             in(i + 1 < rows ? region(from, i + 1, j) : halo(from, false, j)),
                             in(j > 0 ? region(from, i, j - 1) : nothing()),
                             in(j + 1 < columns ? region(from, i, j + 1) : nothing()),
                             quern::out(part, compares ? 1 : 0), [&g = m_g, from, i, j, part] {
                                 const double change =
                                     sweep_either(g.tile(from, i, j), g.tile(1 - from, i, j),
                                                  g.shape_of(i, j), part != nullptr);
                                 if (part != nullptr) {
                                     *part = change;
                                 }
                             });
            }
        }
    }

    /// One after the other, as all ranks call them: they have no tags.
    void report(std::size_t which) {
        const auto tiles = static_cast<std::ptrdiff_t>(m_g.tiles());
        m_work.spawn({.name = "change", .communication = true},
                     quern::in(&m_parts[which * m_g.tiles()], tiles), quern::out(m_changes[which]),
                     quern::inout(quern::sentinel(m_changes)),
                     [one = apps::mpi::message()](auto parts, double& change) mutable {
                         change =
                             one.reduced(*std::max_element(parts.begin(), parts.end()), MPI_MAX);
                     });
    }

    void exchange_all(std::size_t copy) {
        for (std::size_t j = 0; j < m_g.tile_columns(); ++j) {
            const int tag = static_cast<int>(copy * m_g.tile_columns() + j);
            exchange_one(copy, true, j, m_g.at().before(), tag);
            exchange_one(copy, false, j, m_g.at().after(), tag);
        }
    }

    void exchange_one(std::size_t copy, bool is_above, std::size_t j, int peer, int tag) {
        if (peer == MPI_PROC_NULL) {
            return;
        }
        const int width = static_cast<int>(m_g.width(j));
        const std::size_t i = is_above ? 0 : m_g.tile_rows() - 1;
        double* const row =
            m_g.tile(copy, i, j) +
            (is_above ? 0 : static_cast<std::ptrdiff_t>(m_g.height(i)) - 1) * m_g.pitch();
        m_work.spawn(
            {.name = "send", .rank = 2, .communication = true}, quern::in(region(copy, i, j)),
            [=, one = apps::mpi::message()]() mutable { one.send(row, width, peer, tag); });
        double* const into = row + (is_above ? -1 : 1) * m_g.pitch();
        m_work.spawn(
            {.name = "receive", .rank = 3, .communication = true},
            quern::out(halo(copy, is_above, j)),
            [=, one = apps::mpi::message()]() mutable { one.receive(into, width, peer, tag); });
    }

    grid& m_g;
    plan m_plan;
    std::vector<double> m_parts;
    std::vector<double> m_changes;
    quern::domain m_work;
};

inline std::vector<double> by_tasks(grid& g, const plan& p) { return task_maker(g, p).run(); }

}  // namespace jacobi
