// SPDX-License-Identifier: BSL-1.0
// Extents and memory of tile_grid, tiles<T> and tiles_view<T>, for every T.
#include <quern/dependences/tiles.hpp>
#include <quern/dependences/tiles_view.hpp>

#include <quern/base/detail/cache_line.hpp>
#include <quern/dependences/detail/access_checks.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>

namespace quern {

namespace {

std::size_t positive_extent(const char* name, std::ptrdiff_t extent) {
    if (extent <= 0) {
        throw std::invalid_argument("quern: tiles: " + std::string(name) + " is " +
                                    std::to_string(extent) + "; accepted: a whole number from 1");
    }
    return static_cast<std::size_t>(extent);
}

/// Throws if the product is more bytes than an object may have.
std::size_t product_of_sizes(std::size_t a, std::size_t b) {
    std::size_t product = 0;
    if (__builtin_mul_overflow(a, b, &product) || product > PTRDIFF_MAX - detail::k_cache_line) {
        throw std::bad_array_new_length();
    }
    return product;
}

std::size_t tiles_that_cover(std::size_t extent, std::size_t tile) {
    return extent / tile + (extent % tile != 0 ? 1 : 0);
}

}  // namespace

tile_grid::tile_grid(std::ptrdiff_t rows, std::ptrdiff_t columns, std::ptrdiff_t tile_rows,
                     std::ptrdiff_t tile_columns)
    : m_rows(positive_extent("rows", rows)),
      m_columns(positive_extent("columns", columns)),
      m_tile_rows(std::min(m_rows, positive_extent("tile_rows", tile_rows))),
      m_tile_columns(std::min(m_columns, positive_extent("tile_columns", tile_columns))),
      m_grid_rows(tiles_that_cover(m_rows, m_tile_rows)),
      m_grid_columns(tiles_that_cover(m_columns, m_tile_columns)) {}

namespace detail {

std::size_t bytes_of_tile(const tile_grid& grid, std::size_t element_bytes) {
    const std::size_t bytes =
        product_of_sizes(product_of_sizes(grid.tile_rows(), grid.tile_columns()), element_bytes);
    const std::size_t whole_lines =
        product_of_sizes(tiles_that_cover(bytes, detail::k_cache_line), detail::k_cache_line);
    product_of_sizes(product_of_sizes(grid.grid_rows(), grid.grid_columns()), whole_lines);
    return whole_lines;
}

void refuse_leading_dimension(std::ptrdiff_t given, std::size_t rows) {
    throw std::invalid_argument("quern: tiles: leading_dimension is " + std::to_string(given) +
                                "; accepted: a whole number from the number of rows, " +
                                std::to_string(rows));
}

std::unique_ptr<std::byte, free_tiles> allocate_tiles(const tile_grid& grid,
                                                      std::size_t tile_bytes) {
    const std::size_t bytes = grid.grid_rows() * grid.grid_columns() * tile_bytes;
    const std::size_t alignment =
        checks_accesses() ? static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) : k_cache_line;
    return std::unique_ptr<std::byte, free_tiles>(
        static_cast<std::byte*>(::operator new (bytes, std::align_val_t{alignment})),
        free_tiles{alignment});
}

void free_tiles::operator()(std::byte* tiles) const noexcept {
    ::operator delete (tiles, std::align_val_t{alignment});
}

void check_tiles_view(const volatile void* first, std::ptrdiff_t leading_dimension,
                      std::size_t element, const tile_grid& grid) {
    if (leading_dimension < 0 || static_cast<std::size_t>(leading_dimension) < grid.rows()) {
        detail::refuse_leading_dimension(leading_dimension, grid.rows());
    }
    const std::array counts{static_cast<std::ptrdiff_t>(grid.columns()),
                            static_cast<std::ptrdiff_t>(grid.rows())};
    detail::check_strided(first, element, counts, std::array{leading_dimension});
}

void describe_tile(const volatile void* first, std::size_t element, std::size_t rows,
                   std::size_t columns, std::size_t leading_dimension, region& row,
                   strides& shape) {
    const std::array counts{static_cast<std::ptrdiff_t>(columns),
                            static_cast<std::ptrdiff_t>(rows)};
    const std::array distances{static_cast<std::ptrdiff_t>(leading_dimension)};
    detail::check_strided(first, element, counts, distances);
    detail::describe_rows(element, counts, distances, row, shape);
}

}  // namespace detail

}  // namespace quern
