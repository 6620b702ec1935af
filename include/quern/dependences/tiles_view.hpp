// SPDX-License-Identifier: BSL-1.0
// tiles_view: the tiles of a matrix by columns that stays where it is, as data of dependent tasks:
// an array of a caller of LAPACK is factorised in place, without a copy in tile layout.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/dependences/access.hpp>
#include <quern/dependences/detail/strided_access.hpp>
#include <quern/dependences/tiles.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>

namespace quern {

namespace detail {

template <class T>
struct tile_access;

}  // namespace detail

/// A tile whose columns lie `leading_dimension` elements apart: a pointer and what BLAS and LAPACK
/// ask for beside it. A value that refers to the matrix: pass it by value. A matrix_tile is one
/// too, so a function that takes a strided_tile takes both.
///
///     std::vector<double> matrix(100 * 80);  // 100 rows
///     const quern::strided_tile<double> corner(matrix.data(), 3, 2, 100);
///     corner(2, 1) = 1;  // matrix[102]
///     double sum = 0;
///     for (double x : corner.column(1)) sum += x;
template <class T>
class strided_tile {
public:
    using element_type = T;

    strided_tile() = default;
    /// Requires: leading_dimension >= rows.
    constexpr strided_tile(T* first, std::size_t rows, std::size_t columns,
                           std::size_t leading_dimension) noexcept
        : m_data(first), m_rows(rows), m_columns(columns), m_leading_dimension(leading_dimension) {}
    constexpr strided_tile(const matrix_tile<T>& of) noexcept
        : strided_tile(of.data(), of.rows(), of.columns(), of.leading_dimension()) {}
    /// A tile that is only read.
    constexpr operator strided_tile<const T>() const noexcept {
        return {m_data, m_rows, m_columns, m_leading_dimension};
    }

    constexpr T* data() const noexcept { return m_data; }
    constexpr std::size_t size() const noexcept { return m_rows * m_columns; }
    constexpr std::size_t rows() const noexcept { return m_rows; }
    constexpr std::size_t columns() const noexcept { return m_columns; }
    /// Elements from the begin of a column to the begin of the next.
    constexpr std::size_t leading_dimension() const noexcept { return m_leading_dimension; }

    /// Requires: r < rows(), c < columns(), here and below; counted within the tile.
    constexpr T& operator()(std::size_t r, std::size_t c) const noexcept {
        return m_data[c * m_leading_dimension + r];
    }
    constexpr std::span<T> column(std::size_t c) const noexcept {
        return {m_data + c * m_leading_dimension, m_rows};
    }

    /// For in(), out() and so on. Throws std::invalid_argument for a null pointer with elements,
    /// and for columns that overlap.
    template <detail::access_kind Kind>
    auto access_of() const {
        static_assert(Kind == detail::access_kind::read || !std::is_const_v<T>,
                      "quern: a task cannot write what is const");
        using seen = std::conditional_t<Kind == detail::access_kind::read, const T, T>;
        return detail::tile_access<seen>(*this, Kind);
    }

private:
    T* m_data = nullptr;
    std::size_t m_rows = 0;
    std::size_t m_columns = 0;
    std::size_t m_leading_dimension = 0;
};

namespace detail {

/// The region of a tile: a row of bytes for each of its columns.
void describe_tile(const volatile void* first, std::size_t element, std::size_t rows,
                   std::size_t columns, std::size_t leading_dimension, region& row, strides& shape);

/// Throws std::invalid_argument.
void check_tiles_view(const volatile void* first, std::ptrdiff_t leading_dimension,
                      std::size_t element, const tile_grid& grid);

template <class T>
struct tile_access : access_base {
    using view_type = strided_tile<T>;
    struct kept {
        strides shape;
        strided_tile<T> view;
    };

    tile_access(strided_tile<T> of, access_kind how) : m_of(of) {
        this->begin = reinterpret_cast<std::uintptr_t>(of.data());
        this->kind = how;
        detail::describe_tile(of.data(), sizeof(T), of.rows(), of.columns(), of.leading_dimension(),
                              *this, m_shape);
    }

    strided_region resolve(kept& keeps, domain_core&) const noexcept { return named(keeps); }
    strided_region named(kept& keeps) const noexcept {
        keeps = {m_shape, m_of};
        return {*this, m_shape.is_used() ? &keeps.shape : nullptr};
    }
    static auto view(kept& keeps, const region&) noexcept {
        return std::tuple<strided_tile<T>>(keeps.view);
    }

private:
    strided_tile<T> m_of;
    strides m_shape;
};

}  // namespace detail

/// The tiles of a matrix by columns, as LAPACK and Fortran have it: the element in row r and column
/// c is first[c * leading_dimension + r]. It has the functions of tiles<T> that name tiles, so one
/// function template serves both. T may be const: then its tiles can be read only. A value that
/// refers to the matrix, which must live until the tasks that use it have ended.
///
/// Accesses: in(A.tile(i, j)), out, inout, concurrent and commutative take the elements of a tile
/// and not what lies between its columns; the body gets a strided_tile<T>, or captures the tile.
///
/// Errors: std::invalid_argument for an extent that is not positive, a leading dimension smaller
/// than the rows, a null pointer, and for more bytes than memory has.
///
/// Thread safety: different elements at a time from any thread. Cost of an access: a lookup in a
/// hash, as for a tile that is contiguous. What reads and writes a tile pays for its layout:
/// columns of a tile are in different pages when the leading dimension is large.
///
///     std::vector<double> a(1000 * 700);  // 1000 rows
///     quern::tiles_view<double> A(a.data(), 1000, 1000, 700, 256, 256);
///     quern::domain work;
///     for (std::size_t i = 0; i < A.grid_rows(); ++i)
///         work.spawn(quern::inout(A.tile(i, 0)), [](quern::strided_tile<double> t) {
///             t(0, 0) = 1;  // t.data() and t.leading_dimension() for BLAS
///         });
///     work.taskwait();  // a[0], a[256], a[512] and a[768] are 1
template <class T>
class tiles_view : public tile_grid {
public:
    tiles_view(T* first, std::ptrdiff_t leading_dimension, std::ptrdiff_t rows,
               std::ptrdiff_t columns, std::ptrdiff_t tile_rows, std::ptrdiff_t tile_columns)
        : tile_grid(rows, columns, tile_rows, tile_columns),
          m_first(first),
          m_leading_dimension(static_cast<std::size_t>(leading_dimension)) {
        detail::check_tiles_view(first, leading_dimension, sizeof(T), *this);
    }

    T* data() const noexcept { return m_first; }
    std::size_t leading_dimension() const noexcept { return m_leading_dimension; }

    /// Requires: i < grid_rows(), j < grid_columns().
    strided_tile<T> tile(std::size_t i, std::size_t j) const noexcept {
        return {&(*this)(first_row(i), first_column(j)), rows_of(i), columns_of(j),
                m_leading_dimension};
    }

    /// The element in this row and column of the matrix. Requires: row < rows(), column <
    /// columns().
    T& operator()(std::size_t row, std::size_t column) const noexcept {
        return m_first[column * m_leading_dimension + row];
    }

private:
    T* m_first;
    std::size_t m_leading_dimension;
};

}  // namespace quern
