// SPDX-License-Identifier: BSL-1.0
// tile_grid: how a matrix is divided into tiles. The base of tiles<T>, which has memory of its own,
// and of tiles_view<T>, whose matrix lies elsewhere.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/task/task_group.hpp>

#include <algorithm>
#include <cstddef>

namespace quern {

/// The numbers of a matrix that is divided into rectangular tiles: tile (i, j) is in row i and
/// column j of the grid. Those of the last row and column are smaller when the extents are no
/// multiples. A value without elements.
///
/// Errors: std::invalid_argument, which names the extent, for one that is not positive.
///
///     const quern::tile_grid grid(1000, 700, 256, 256);  // 4 by 3 tiles
///     const std::size_t last = grid.rows_of(3);          // 232
///     const std::size_t before = grid.first_row(3);      // 768
class tile_grid {
public:
    /// Tiles that are larger than the matrix are as large as it is.
    tile_grid(std::ptrdiff_t rows, std::ptrdiff_t columns, std::ptrdiff_t tile_rows,
              std::ptrdiff_t tile_columns);

    std::size_t rows() const noexcept { return m_rows; }
    std::size_t columns() const noexcept { return m_columns; }
    std::size_t tile_rows() const noexcept { return m_tile_rows; }
    std::size_t tile_columns() const noexcept { return m_tile_columns; }
    /// How many tiles there are in a column of tiles, and in a row.
    std::size_t grid_rows() const noexcept { return m_grid_rows; }
    std::size_t grid_columns() const noexcept { return m_grid_columns; }
    /// The row of the matrix that is row 0 of tile (i, j), and the column.
    std::size_t first_row(std::size_t i) const noexcept { return i * m_tile_rows; }
    std::size_t first_column(std::size_t j) const noexcept { return j * m_tile_columns; }
    /// Rows of the tiles (i, ...), and columns of the tiles (..., j). Requires: i < grid_rows(),
    /// j < grid_columns().
    std::size_t rows_of(std::size_t i) const noexcept {
        return std::min(m_tile_rows, m_rows - first_row(i));
    }
    std::size_t columns_of(std::size_t j) const noexcept {
        return std::min(m_tile_columns, m_columns - first_column(j));
    }

    /// Calls f(i, j) for each tile, in a task with the hint where(i, j): the rank of a worker, or
    /// -1. Throws the first exception. Not while other tasks use the matrix.
    template <class F, class Where>
    void for_each_tile(const F& f, const Where& where) const {
        task_group group;
        for (std::size_t j = 0; j < grid_columns(); ++j) {
            for (std::size_t i = 0; i < grid_rows(); ++i) {
                group.run({.name = "tiles", .worker = where(i, j)}, [&f, i, j] { f(i, j); });
            }
        }
        group.wait();
    }

    /// In column-major order of the tiles, one after the other to each worker.
    auto round_robin() const noexcept {
        return [height = grid_rows()](std::size_t i, std::size_t j) {
            constexpr std::size_t k_most = 1 << 20;
            return static_cast<int>((j * height + i) % k_most);
        };
    }

private:
    std::size_t m_rows, m_columns;            ///< of the matrix
    std::size_t m_tile_rows, m_tile_columns;  ///< of a tile that is not cut at the edge
    std::size_t m_grid_rows, m_grid_columns;  ///< how many tiles
};

}  // namespace quern
