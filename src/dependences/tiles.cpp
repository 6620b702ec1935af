// SPDX-License-Identifier: BSL-1.0
// Extents and memory of tiles<T>, for every T.
#include <quern/dependences/tiles.hpp>

#include <quern/base/detail/cache_line.hpp>
#include <quern/dependences/detail/access_checks.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>

namespace quern::detail {

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
    if (__builtin_mul_overflow(a, b, &product) || product > PTRDIFF_MAX - k_cache_line) {
        throw std::bad_array_new_length();
    }
    return product;
}

std::size_t tiles_that_cover(std::size_t extent, std::size_t tile) {
    return extent / tile + (extent % tile != 0 ? 1 : 0);
}

}  // namespace

tile_extents checked_extents(std::ptrdiff_t rows, std::ptrdiff_t columns, std::ptrdiff_t tile_rows,
                             std::ptrdiff_t tile_columns, std::size_t element_bytes) {
    tile_extents e{};
    e.rows = positive_extent("rows", rows);
    e.columns = positive_extent("columns", columns);
    e.tile_rows = std::min(e.rows, positive_extent("tile_rows", tile_rows));
    e.tile_columns = std::min(e.columns, positive_extent("tile_columns", tile_columns));
    e.grid_rows = tiles_that_cover(e.rows, e.tile_rows);
    e.grid_columns = tiles_that_cover(e.columns, e.tile_columns);
    const std::size_t bytes =
        product_of_sizes(product_of_sizes(e.tile_rows, e.tile_columns), element_bytes);
    e.tile_bytes = product_of_sizes(tiles_that_cover(bytes, k_cache_line), k_cache_line);
    product_of_sizes(product_of_sizes(e.grid_rows, e.grid_columns), e.tile_bytes);
    return e;
}

void refuse_leading_dimension(std::size_t given, std::size_t rows) {
    throw std::invalid_argument("quern: tiles: leading_dimension is " + std::to_string(given) +
                                "; accepted: a whole number from the number of rows, " +
                                std::to_string(rows));
}

std::unique_ptr<std::byte, free_tiles> allocate_tiles(const tile_extents& of) {
    const std::size_t bytes = of.grid_rows * of.grid_columns * of.tile_bytes;
    const std::size_t alignment =
        checks_accesses() ? static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) : k_cache_line;
    return std::unique_ptr<std::byte, free_tiles>(
        static_cast<std::byte*>(::operator new (bytes, std::align_val_t{alignment})),
        free_tiles{alignment});
}

void free_tiles::operator()(std::byte* tiles) const noexcept {
    ::operator delete (tiles, std::align_val_t{alignment});
}

}  // namespace quern::detail
