// SPDX-License-Identifier: BSL-1.0
// What a rank has of the problem: its cells, and buffers of all messages with their peers and tags.
// First values, forcing, and the norms that are compared with the published ones.
#pragma once

#include "kernels.hpp"
#include "partition.hpp"

#include <mpi.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace nas_bt {

/// What passes through a side of a cell: from and to a neighbour, or nothing where there is none.
struct side {
    std::size_t cell;
    std::size_t d;
    bool is_after;
    int peer;  ///< or MPI_PROC_NULL
    // Of the layers of u; strips 0, 1 ... of a sweep follow.
    int send_tag;
    int receive_tag;
    // Two layers of u.
    std::vector<double> sent_layers;
    std::vector<double> received_layers;
    // Of a sweep, a pair of lines after the other, plane by plane.
    std::vector<reduced> forward;
    std::vector<vector5> backward;

    bool has_peer() const { return peer != MPI_PROC_NULL; }
};

/// As doubles.
template <class T>
int numbers_in(std::span<T> what) {
    return static_cast<int>(what.size_bytes() / sizeof(double));
}

/// Its cells are divided into strips of planes.
class parts {
public:
    parts(const partition& all, std::size_t strips) : m_all(all), m_strips(strips) {
        for (std::size_t c = 0; c < all.cells(); ++c) {
            m_cells.emplace_back(all, c);
            for (std::size_t d = 0; d < 3; ++d) {
                m_strips = std::min(m_strips, static_cast<std::size_t>(m_cells[c].planes(d)));
            }
        }
        for (std::size_t c = 0; c < all.cells(); ++c) {
            for (std::size_t d = 0; d < 3; ++d) {
                m_sides.push_back(make_side(c, d, false));
                m_sides.push_back(make_side(c, d, true));
            }
        }
        // The exact solution has no change: the forcing makes it so.
        for (cell& c : m_cells) {
            c.fill_u(exact_solution);
            find_rhs(c, {0, c.size(2)}, -1);
            std::swap(c.forcing(), c.rhs());
        }
    }

    void reset() {
        for (cell& c : m_cells) {
            c.fill_u(first_values);
        }
    }

    const partition& all() const { return m_all; }
    std::size_t cells() const { return m_cells.size(); }
    cell& at(std::size_t c) { return m_cells[c]; }
    /// Into which the planes of each cell are divided.
    std::size_t strips() const { return m_strips; }
    /// The planes of strip s in a sweep along d.
    range planes(std::size_t c, std::size_t d, std::size_t s) const {
        const apps::mpi::share part =
            apps::mpi::share_of(static_cast<std::size_t>(m_cells[c].planes(d)),
                                {static_cast<int>(s), static_cast<int>(m_strips)});
        const auto first = static_cast<std::ptrdiff_t>(part.first);
        return {first, first + static_cast<std::ptrdiff_t>(part.count)};
    }

    std::vector<side>& sides() { return m_sides; }
    side& side_of(std::size_t c, std::size_t d, bool is_after) {
        return m_sides[number_of(c, d, is_after)];
    }
    static std::size_t number_of(std::size_t c, std::size_t d, bool is_after) {
        return 6 * c + 2 * d + static_cast<std::size_t>(is_after);
    }

    /// Two layers of u, to and from the buffers of a side.
    void pack(side& s) {
        if (s.has_peer()) {
            at(s.cell).pack(s.d, s.is_after, s.sent_layers.data());
        }
    }
    void unpack(const side& s) {
        if (s.has_peer()) {
            at(s.cell).unpack(s.d, s.is_after, s.received_layers.data());
        }
    }

    // A step, strip by strip.

    void find_rhs_of_strip(std::size_t c, std::size_t s) {
        find_rhs(at(c), planes(c, 0, s), m_all.kind().dt);
    }
    void solve_strip(std::size_t c, std::size_t d, std::size_t s) {
        solve(at(c), d, planes(c, d, s));
    }
    void eliminate_strip(std::size_t c, std::size_t d, std::size_t s) {
        eliminate(at(c), d, planes(c, d, s), strip_of(side_of(c, d, false).forward, c, d, s).data(),
                  strip_of(side_of(c, d, true).forward, c, d, s).data());
    }
    void substitute_strip(std::size_t c, std::size_t d, std::size_t s) {
        substitute(at(c), d, planes(c, d, s),
                   strip_of(side_of(c, d, true).backward, c, d, s).data(),
                   strip_of(side_of(c, d, false).backward, c, d, s).data());
    }
    /// The part of a message; empty where there is no neighbour.
    template <class T>
    std::span<T> strip_of(std::vector<T>& of, std::size_t c, std::size_t d, std::size_t s) const {
        if (of.empty()) {
            return {};
        }
        const range part = planes(c, d, s);
        const std::ptrdiff_t pairs = m_cells[c].pairs(d);
        return std::span(of).subspan(static_cast<std::size_t>(part.first * pairs),
                                     static_cast<std::size_t>(part.count() * pairs));
    }

    /// Root mean squares over all points inside, of all ranks: of the right-hand side, and of the
    /// difference from the exact solution.
    five residual() {
        for (cell& c : m_cells) {
            find_rhs(c, {0, c.size(2)}, 1);
        }
        return root_mean_square([](cell& c, const triple&, std::ptrdiff_t offset, std::size_t m) {
            return c.rhs().component(m)[offset];
        });
    }
    five error() {
        return root_mean_square([](cell& c, const triple& i, std::ptrdiff_t offset, std::size_t m) {
            return c.u().component(m)[offset] - exact_solution(c.coordinates(i))[m];
        });
    }

private:
    side make_side(std::size_t c, std::size_t d, bool is_after) const {
        if (!m_all.has_neighbour(c, d, is_after)) {
            return {c, d, is_after, MPI_PROC_NULL, 0, 0, {}, {}, {}, {}};
        }
        // A tag is known by the side at which the message arrives. It is an own one, for two cells
        // may exchange messages with the same two ranks.
        const auto first_tag = [this](std::size_t number) {
            return static_cast<int>(number * (m_strips + 1));
        };
        const std::size_t other = partition::cell_of_neighbour(c, d, is_after);
        const std::size_t layers = m_cells[c].layers_size(d);
        const auto pairs = static_cast<std::size_t>(m_cells[c].planes(d) * m_cells[c].pairs(d));
        return {c,
                d,
                is_after,
                m_all.rank_of_neighbour(d, is_after),
                first_tag(number_of(other, d, !is_after)),
                first_tag(number_of(c, d, is_after)),
                std::vector<double>(layers),
                std::vector<double>(layers),
                std::vector<reduced>(pairs),
                std::vector<vector5>(pairs)};
    }

    template <class F>
    five root_mean_square(const F& value) {
        five sum{};
        for (cell& c : m_cells) {
            c.for_each(c.inside(), [&](const triple& i, std::ptrdiff_t offset) {
                for (std::size_t m = 0; m < 5; ++m) {
                    const double each = value(c, i, offset, m);
                    sum[m] += each * each;
                }
            });
        }
        MPI_Allreduce(MPI_IN_PLACE, sum.data(), 5, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        for (double& each : sum) {
            each = std::sqrt(each / std::pow(static_cast<double>(m_all.kind().n - 2), 3));
        }
        return sum;
    }

    partition m_all;
    std::size_t m_strips;
    std::vector<cell> m_cells;
    std::vector<side> m_sides;
};

}  // namespace nas_bt
