// SPDX-License-Identifier: BSL-1.0
// tiles: a matrix whose rectangular tiles are contiguous, as data of dependent tasks: a tile is an
// access, and its pages are first touched by the workers that will use it.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/dependences/tile_grid.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>

namespace quern {

/// A tile: a contiguous range of its elements, by columns without gaps, as BLAS and LAPACK expect
/// them. A value of two words and two numbers that refers to the matrix: pass it by value.
///
///     double sum = 0;
///     quern::tiles<double> A(100, 100, 32, 32);
///     A.assign([](std::size_t row, std::size_t column) { return row == column ? 2.0 : 0.0; });
///     const quern::matrix_tile<double> last = A.tile(3, 3);  // 4 by 4
///     for (std::size_t c = 0; c < last.columns(); ++c) sum += last(c, c);
template <class T>
class matrix_tile {
public:
    using element_type = T;

    matrix_tile() = default;
    constexpr matrix_tile(T* first, std::size_t rows, std::size_t columns) noexcept
        : m_data(first), m_rows(rows), m_columns(columns) {}
    /// A tile that is only read.
    constexpr operator matrix_tile<const T>() const noexcept { return {m_data, m_rows, m_columns}; }

    constexpr T* data() const noexcept { return m_data; }
    constexpr T* begin() const noexcept { return m_data; }
    constexpr T* end() const noexcept { return m_data + size(); }
    constexpr std::size_t size() const noexcept { return m_rows * m_columns; }
    constexpr std::size_t rows() const noexcept { return m_rows; }
    constexpr std::size_t columns() const noexcept { return m_columns; }
    /// Elements from the begin of a column to the begin of the next.
    constexpr std::size_t leading_dimension() const noexcept { return m_rows; }

    /// Requires: r < rows(), c < columns(), here and below; counted within the tile.
    constexpr T& operator()(std::size_t r, std::size_t c) const noexcept {
        return m_data[c * m_rows + r];
    }
    constexpr std::span<T> column(std::size_t c) const noexcept {
        return {m_data + c * m_rows, m_rows};
    }

private:
    T* m_data = nullptr;
    std::size_t m_rows = 0;
    std::size_t m_columns = 0;
};

namespace detail {

/// From tile to tile: whole cache lines. Throws std::bad_array_new_length.
std::size_t bytes_of_tile(const tile_grid& grid, std::size_t element_bytes);
[[noreturn]] QUERN_COLD void refuse_leading_dimension(std::ptrdiff_t given, std::size_t rows);

struct free_tiles {
    void operator()(std::byte* tiles) const noexcept;

    std::size_t alignment = 0;
};
/// Untouched memory, which begins at a cache line, and while accesses are checked at a page. Throws
/// std::bad_alloc.
std::unique_ptr<std::byte, free_tiles> allocate_tiles(const tile_grid& grid,
                                                      std::size_t tile_bytes);

}  // namespace detail

/// A matrix in tile layout: tile (i, j) begins at a cache line and is contiguous. Tiles of the last
/// row and column are smaller when the extents are no multiples. For a matrix by columns that stays
/// where it is: tiles_view.
///
/// Elements: have no value until assign(), touch(), copy_from() or a write through a tile; T is
/// trivially copyable.
///
/// Accesses: in(A.tile(i, j)), out, inout and concurrent take a tile as one region; the body gets a
/// std::span of the elements, or captures the tile. A whole column of tiles, if one tile is to be
/// rows() high, is a column panel.
///
/// Memory: pages belong to the NUMA node of the worker that writes them first. The constructor
/// writes none; assign(), touch() and copy_from() use a task for each tile, in the worker that
/// `where` names.
///
/// Errors: std::invalid_argument for an extent that is not positive; std::bad_alloc. Moving keeps
/// the elements in place, so tiles stay valid.
///
/// Thread safety: different elements at a time from any thread. The parallel functions are called
/// from a task or, outside of tasks, use the default runtime.
///
/// Source: the tile layout of PLASMA (Buttari, Langou, Kurzak, Dongarra 2009).
///
///     quern::tiles<double> A(1000, 1000, 256, 256);  // 4 by 4 tiles, the last ones smaller
///     A.assign([](std::size_t row, std::size_t column) { return 1.0 / (1.0 + row + column); });
///     quern::domain work;
///     for (std::size_t i = 0; i < A.grid_rows(); ++i)
///         work.spawn(quern::inout(A.tile(i, 0)), [](std::span<double> t) { t[0] = 1; });
///     work.taskwait();
template <class T>
class tiles : public tile_grid {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                  "quern: tiles of elements that are not trivially copyable");

public:
    /// Tiles that are larger than the matrix are as large as it is.
    tiles(std::ptrdiff_t rows, std::ptrdiff_t columns, std::ptrdiff_t tile_rows,
          std::ptrdiff_t tile_columns)
        : tile_grid(rows, columns, tile_rows, tile_columns),
          m_tile_bytes(detail::bytes_of_tile(*this, sizeof(T))),
          m_memory(detail::allocate_tiles(*this, m_tile_bytes)) {}

    /// Requires: i < grid_rows(), j < grid_columns().
    matrix_tile<T> tile(std::size_t i, std::size_t j) noexcept {
        return {at(i, j), rows_of(i), columns_of(j)};
    }
    matrix_tile<const T> tile(std::size_t i, std::size_t j) const noexcept {
        return {at(i, j), rows_of(i), columns_of(j)};
    }

    /// The element in this row and column of the matrix. Two divisions: for tests and output.
    T& operator()(std::size_t row, std::size_t column) noexcept {
        return tile(row / tile_rows(), column / tile_columns())(row % tile_rows(),
                                                                column % tile_columns());
    }
    const T& operator()(std::size_t row, std::size_t column) const noexcept {
        return tile(row / tile_rows(), column / tile_columns())(row % tile_rows(),
                                                                column % tile_columns());
    }

    /// Sets every element to f(row, column); f is called by several tasks at a time.
    template <class F, class Where>
    void assign(const F& f, const Where& where) {
        for_each_tile(
            [&](std::size_t i, std::size_t j) {
                T* element = at(i, j);
                for (std::size_t c = 0; c < columns_of(j); ++c) {
                    for (std::size_t r = 0; r < rows_of(i); ++r) {
                        *element++ = f(first_row(i) + r, first_column(j) + c);
                    }
                }
            },
            where);
    }
    template <class F>
    void assign(const F& f) {
        assign(f, round_robin());
    }

    /// Sets every element to T().
    template <class Where>
    void touch(const Where& where) {
        for_each_tile(
            [&](std::size_t i, std::size_t j) {
                std::uninitialized_fill_n(at(i, j), rows_of(i) * columns_of(j), T());
            },
            where);
    }
    void touch() { touch(round_robin()); }

    /// From and to a matrix by columns, `leading_dimension` elements from column to column, at
    /// least rows(): std::invalid_argument if it is less. Cost: a task for each tile.
    void copy_from(const T* from, std::size_t leading_dimension) {
        require_leading_dimension(leading_dimension);
        for_each_tile(
            [&](std::size_t i, std::size_t j) {
                for (std::size_t c = 0; c < columns_of(j); ++c) {
                    std::copy_n(from + (first_column(j) + c) * leading_dimension + first_row(i),
                                rows_of(i), tile(i, j).column(c).data());
                }
            },
            round_robin());
    }
    void copy_to(T* to, std::size_t leading_dimension) const {
        require_leading_dimension(leading_dimension);
        for_each_tile(
            [&](std::size_t i, std::size_t j) {
                for (std::size_t c = 0; c < columns_of(j); ++c) {
                    std::copy_n(tile(i, j).column(c).data(), rows_of(i),
                                to + (first_column(j) + c) * leading_dimension + first_row(i));
                }
            },
            round_robin());
    }

private:
    T* at(std::size_t i, std::size_t j) const noexcept {
        return reinterpret_cast<T*>(m_memory.get() + (j * grid_rows() + i) * m_tile_bytes);
    }
    void require_leading_dimension(std::size_t given) const {
        if (given < rows()) [[unlikely]] {
            detail::refuse_leading_dimension(static_cast<std::ptrdiff_t>(given), rows());
        }
    }

    std::size_t m_tile_bytes;
    std::unique_ptr<std::byte, detail::free_tiles> m_memory;
};

}  // namespace quern

template <class T>
inline constexpr bool std::ranges::enable_borrowed_range<quern::matrix_tile<T>> = true;
