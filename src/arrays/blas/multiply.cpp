// SPDX-License-Identifier: BSL-1.0
#include "blas/multiply.hpp"

#include "blas/functions.hpp"
#include "blas/plain.hpp"

#include <quern/algorithms/parallel_for.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <type_traits>

namespace quern::arrays::detail {

namespace {

/// Products of fewer multiplications are one call: some 50 us.
constexpr std::int64_t k_large = std::int64_t{1} << 21;
/// OpenBLAS runs calls of so many on the calling thread in any case, so they need no serial_blas.
constexpr std::int64_t k_always_serial = std::int64_t{1} << 18;
constexpr std::int64_t k_always_serial_vector = 9'000;
/// Elements of a matrix that is multiplied by a vector from which on it is divided: some 20 us.
constexpr std::int64_t k_large_vector = std::int64_t{1} << 17;
/// Elements of one of its tiles, at least and at most. Of few rows each call costs more for a row.
constexpr std::int64_t k_least_vector_tile = std::int64_t{1} << 16;
constexpr std::int64_t k_most_vector_tile = std::int64_t{1} << 18;
/// Elements of two vectors in one call; OpenBLAS takes one thread up to 10 000.
constexpr std::int64_t k_inner_piece = std::int64_t{1} << 13;

template <class T>
inline constexpr bool k_has_blas = std::is_floating_point_v<T>;

/// A range of rows.
template <class T>
matrix_view<T> rows_of(const matrix_view<T>& m, std::int64_t first, std::int64_t count) {
    matrix_view<T> part = m;
    part.first += first * (m.by_columns ? 1 : m.leading);
    part.rows = count;
    return part;
}

/// A length in equal parts of about `about`, multiples of 16 but for the last.
struct division {
    std::int64_t length;
    std::int64_t part;
    std::int64_t parts;
    division(std::int64_t whole, std::int64_t about) : length(whole) {
        const std::int64_t wanted = std::max<std::int64_t>(1, (whole + about - 1) / about);
        part = std::max<std::int64_t>(16, ((whole + wanted - 1) / wanted + 15) / 16 * 16);
        parts = std::max<std::int64_t>(1, (whole + part - 1) / part);
    }
    std::int64_t first(std::int64_t i) const { return i * part; }
    std::int64_t count(std::int64_t i) const { return std::min(part, length - i * part); }
};

/// c = a b by one call; rows of c are `width` elements apart. Fortran sees c's transpose.
template <class T>
void call_gemm(const blas& library, const matrix_view<T>& a, const matrix_view<T>& b, T* c,
               std::int64_t width) {
    const T one = 1;
    const T zero = 0;
    library.of<T>().gemm(b.by_columns ? "T" : "N", a.by_columns ? "T" : "N", &b.columns, &a.rows,
                         &a.columns, &one, b.first, &b.leading, a.first, &a.leading, &zero, c,
                         &width, 1, 1);
}

/// Whether b is a's transpose, the same memory.
template <class T>
bool is_transpose(const matrix_view<T>& a, const matrix_view<T>& b) {
    return a.first == b.first && a.rows == b.columns && a.columns == b.rows &&
           a.leading == b.leading && a.by_columns != b.by_columns;
}

/// c = a a^T, half of it computed, the other half copied.
template <class T>
void call_syrk(const blas& library, const matrix_view<T>& a, T* c, std::int64_t width) {
    const T one = 1;
    const T zero = 0;
    library.of<T>().syrk("U", a.by_columns ? "N" : "T", &a.rows, &a.columns, &one, a.first,
                         &a.leading, &zero, c, &width, 1, 1);
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t j = 0; j < i; ++j) {
            c[j * width + i] = c[i * width + j];
        }
    }
}

template <class T>
void multiply_tile(const blas* library, const matrix_view<T>& a, const matrix_view<T>& b, T* c,
                   std::int64_t width) {
    if constexpr (k_has_blas<T>) {
        if (library != nullptr && is_transpose(a, b)) return call_syrk(*library, a, c, width);
        if (library != nullptr) return call_gemm(*library, a, b, c, width);
    }
    plain_product(a, b, c, width);
}

/// The library for elements of this type, if there is one.
template <class T>
const blas* blas_for() {
    if constexpr (k_has_blas<T>) {
        const blas& library = current_blas();
        return library.has_blas ? &library : nullptr;
    }
    return nullptr;
}

/// Larger tiles copy less, smaller ones occupy more workers.
std::int64_t tile_edge(std::int64_t elements) {
    if (elements > std::int64_t{1} << 20) return 512;
    return elements > std::int64_t{1} << 18 ? 256 : 128;
}

template <class T>
void multiply_by_tiles(const blas* library, const matrix_view<T>& a, const matrix_view<T>& b,
                       T* c) {
    const std::int64_t edge = tile_edge(a.rows * b.columns);
    const division rows(a.rows, edge);
    const division columns(b.columns, edge);
    const bool is_symmetric = library != nullptr && is_transpose(a, b);
    quern::parallel_for(
        std::int64_t{0}, rows.parts * columns.parts, quern::grain::fixed(1),
        [&](std::int64_t tile) {
            const std::int64_t i = tile / columns.parts;
            const std::int64_t j = tile % columns.parts;
            if (is_symmetric && j > i) return;
            const auto right =
                rows_of(b.transposed(), columns.first(j), columns.count(j)).transposed();
            T* const to = c + rows.first(i) * b.columns + columns.first(j);
            multiply_tile(library, rows_of(a, rows.first(i), rows.count(i)), right, to, b.columns);
            if (!is_symmetric || i == j) return;
            for (std::int64_t row = 0; row < rows.count(i); ++row) {
                for (std::int64_t column = 0; column < columns.count(j); ++column) {
                    c[(columns.first(j) + column) * b.columns + rows.first(i) + row] =
                        to[row * b.columns + column];
                }
            }
        });
}

template <class T>
void call_gemv(const blas& library, const matrix_view<T>& a, const vector_view<T>& x, T* y) {
    const T one = 1;
    const T zero = 0;
    const std::int64_t step = 1;
    const std::int64_t& m = a.by_columns ? a.rows : a.columns;
    const std::int64_t& n = a.by_columns ? a.columns : a.rows;
    library.of<T>().gemv(a.by_columns ? "N" : "T", &m, &n, &one, a.first, &a.leading, x.first,
                         &x.step, &zero, y, &step, 1);
}

}  // namespace

bool is_large_product(std::int64_t rows, std::int64_t columns, std::int64_t inner) noexcept {
    return rows * columns >= k_large || rows * columns * inner >= k_large;
}

template <class T>
void multiply(const matrix_view<T>& a, const matrix_view<T>& b, T* c) {
    if (a.rows == 0 || b.columns == 0) return;
    if (a.columns == 0) {
        std::fill_n(c, a.rows * b.columns, T{});
        return;
    }
    const blas* const library = blas_for<T>();
    std::optional<serial_blas> serial;
    const bool is_small = a.rows * b.columns * a.columns <= k_always_serial && !is_transpose(a, b);
    if (library != nullptr && !is_small) {
        serial.emplace(*library);
    }
    if (is_large_product(a.rows, b.columns, a.columns)) {
        multiply_by_tiles(library, a, b, c);
    } else {
        multiply_tile(library, a, b, c, b.columns);
    }
}

template <class T>
void multiply(const matrix_view<T>& a, const vector_view<T>& x, T* y) {
    if (a.columns == 0) {
        std::fill_n(y, a.rows, T{});
        return;
    }
    const blas* const library = blas_for<T>();
    std::optional<serial_blas> serial;
    if (library != nullptr && a.rows * a.columns > k_always_serial_vector) serial.emplace(*library);
    const auto tile = [&](const matrix_view<T>& part, T* to) {
        if constexpr (k_has_blas<T>) {
            if (library != nullptr) return call_gemv(*library, part, x, to);
        }
        for (std::int64_t i = 0; i < part.rows; ++i) {
            const vector_view<T> row = {&element_of(part, i, 0), part.columns,
                                        part.by_columns ? part.leading : 1};
            to[i] = plain_inner_product(row, x);
        }
    };
    const std::int64_t elements = a.rows * a.columns;
    if (elements < k_large_vector) return tile(a, y);
    const std::int64_t about = std::clamp(elements / 16, k_least_vector_tile, k_most_vector_tile);
    const division rows(a.rows, std::max<std::int64_t>(1, about / a.columns));
    // Each tile is long: none is run first to find that out.
    quern::parallel_for(std::int64_t{0}, rows.parts, quern::grain::fixed(1), [&](std::int64_t i) {
        tile(rows_of(a, rows.first(i), rows.count(i)), y + rows.first(i));
    });
}

template <class T>
T inner_product(const vector_view<T>& a, const vector_view<T>& b) {
    const blas* const library = blas_for<T>();
    const std::int64_t pieces = (a.size + k_inner_piece - 1) / k_inner_piece;
    const auto piece = [&](std::int64_t i) -> T {
        const std::int64_t first = i * k_inner_piece;
        const std::int64_t count = std::min(k_inner_piece, a.size - first);
        const vector_view<T> left = {a.first + first * a.step, count, a.step};
        const vector_view<T> right = {b.first + first * b.step, count, b.step};
        if constexpr (k_has_blas<T>) {
            if (library != nullptr) {
                return library->of<T>().dot(&count, left.first, &left.step, right.first,
                                            &right.step);
            }
        }
        return plain_inner_product(left, right);
    };
    if (pieces <= 1) return pieces == 0 ? T{} : piece(0);
    // Not std::vector<bool>, whose elements share bytes.
    const auto sums = std::make_unique<T[]>(static_cast<std::size_t>(pieces));
    const auto store = [&](std::int64_t i) { sums[static_cast<std::size_t>(i)] = piece(i); };
    quern::parallel_for(std::int64_t{0}, pieces, store);
    T sum{};
    for (std::int64_t i = 0; i < pieces; ++i) {
        sum = plus_product(sum, sums[static_cast<std::size_t>(i)], T{1});
    }
    return sum;
}

#define QUERN_ARRAYS_MULTIPLY(T)                                                 \
    template void multiply<T>(const matrix_view<T>&, const matrix_view<T>&, T*); \
    template void multiply<T>(const matrix_view<T>&, const vector_view<T>&, T*); \
    template T inner_product<T>(const vector_view<T>&, const vector_view<T>&);
QUERN_ARRAYS_MULTIPLY(bool)
QUERN_ARRAYS_MULTIPLY(std::int32_t)
QUERN_ARRAYS_MULTIPLY(std::int64_t)
QUERN_ARRAYS_MULTIPLY(float)
QUERN_ARRAYS_MULTIPLY(double)
#undef QUERN_ARRAYS_MULTIPLY

}  // namespace quern::arrays::detail
