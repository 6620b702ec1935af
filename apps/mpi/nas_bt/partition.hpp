// SPDX-License-Identifier: BSL-1.0
// The multi-partition decomposition (Bruno and Cappello 1988, Naik 1995): the cube is cut into
// q x q x q cells, and each of q x q ranks has q of them, one in each layer of each direction. So
// each rank has work at each stage of a sweep in any direction, and all its cells have their
// neighbours in one direction on one rank.
#pragma once

#include "../common/ranks.hpp"
#include "problem.hpp"

#include <array>
#include <cstddef>

namespace nas_bt {

/// Numbers in x, y and z.
using triple = std::array<std::ptrdiff_t, 3>;

class partition {
public:
    /// Throws usage_error for a number of ranks that is not a square, or too large for the class.
    partition(const problem_class& c, const apps::mpi::place& at) : m_class(c) {
        // The dissipation needs two points of a neighbour.
        const std::ptrdiff_t most = (c.n - 2) / 2;
        while (m_cells * m_cells < at.ranks) {
            ++m_cells;
        }
        if (m_cells * m_cells != at.ranks || m_cells > most) {
            throw apps::usage_error(
                fmt::format("the number of ranks is {}; accepted for class {}: a square number "
                            "from 1 to {}, as 1, 4 or 9",
                            at.ranks, c.name, most * most));
        }
        m_column = at.rank % m_cells;
        m_row = at.rank / m_cells;
    }

    const problem_class& kind() const { return m_class; }
    /// Of a rank. A cell is known by its layer in z.
    std::size_t cells() const { return static_cast<std::size_t>(m_cells); }
    /// The layers in which a cell is.
    triple layers_of(std::size_t cell) const {
        const auto z = static_cast<std::ptrdiff_t>(cell);
        return {(m_column + z) % m_cells, (m_row + z) % m_cells, z};
    }
    /// This rank's cell in a layer of direction d.
    std::size_t in_layer(std::size_t d, std::size_t layer) const {
        const std::ptrdiff_t shift = d == 0 ? m_column : d == 1 ? m_row : 0;
        return static_cast<std::size_t>((static_cast<std::ptrdiff_t>(layer) - shift + m_cells) %
                                        m_cells);
    }
    /// Global numbers of points [first, first + count) in a layer. Those on faces of the cube, 0
    /// and n - 1, are in none.
    apps::mpi::share points_of(std::ptrdiff_t layer) const {
        apps::mpi::share all =
            apps::mpi::share_of(static_cast<std::size_t>(m_class.n - 2),
                                {static_cast<int>(layer), static_cast<int>(m_cells)});
        ++all.first;
        return all;
    }

    /// Whether a cell has a neighbour before or after it in direction d.
    bool has_neighbour(std::size_t cell, std::size_t d, bool is_after) const {
        return layers_of(cell)[d] != (is_after ? m_cells - 1 : 0);
    }
    /// The rank of that neighbour: the same one for all cells.
    int rank_of_neighbour(std::size_t d, bool is_after) const {
        const std::ptrdiff_t by = is_after ? 1 : -1;
        const std::ptrdiff_t column = d == 0 ? m_column + by : d == 1 ? m_column : m_column - by;
        const std::ptrdiff_t row = d == 0 ? m_row : d == 1 ? m_row + by : m_row - by;
        return static_cast<int>((row + m_cells) % m_cells * m_cells + (column + m_cells) % m_cells);
    }
    /// How that rank knows the neighbour.
    static std::size_t cell_of_neighbour(std::size_t cell, std::size_t d, bool is_after) {
        return d < 2 ? cell : is_after ? cell + 1 : cell - 1;
    }

private:
    problem_class m_class;
    std::ptrdiff_t m_cells = 1;
    std::ptrdiff_t m_column = 0;
    std::ptrdiff_t m_row = 0;
};

}  // namespace nas_bt
