// SPDX-License-Identifier: BSL-1.0
// Right-looking block algorithms: G. Golub, C. Van Loan, "Matrix Computations", sections 3.2
// and 4.2.
#include "blas/factor.hpp"

#include "blas/pivots.hpp"

#include <quern/algorithms/parallel_for.hpp>

#include <algorithm>

namespace quern::arrays::detail {

namespace {

constexpr std::int64_t k_factor_block = 96;
constexpr std::int64_t k_factor_tile = 96;

/// c -= a b, or a times b's transpose; columns first, all with leading dimension n but b.
template <class T>
void subtract_product(const blas& library, const char* transpose, std::int64_t rows,
                      std::int64_t columns, std::int64_t inner, const T* a, const T* b, T* c,
                      std::int64_t leading, std::int64_t leading_b) {
    const T minus = -1;
    const T one = 1;
    library.of<T>().gemm("N", transpose, &rows, &columns, &inner, &minus, a, &leading, b,
                         &leading_b, &one, c, &leading, 1, 1);
}

template <class T>
void solve_triangle(const blas& library, const char* side, const char* triangle,
                    const char* transpose, const char* diagonal, std::int64_t rows,
                    std::int64_t columns, const T* a, std::int64_t leading, T* b,
                    std::int64_t leading_b) {
    const T one = 1;
    library.of<T>().trsm(side, triangle, transpose, diagonal, &rows, &columns, &one, a, &leading, b,
                         &leading_b, 1, 1, 1, 1);
}

/// Exchanges rows [first, last) of these columns with those that `order` says.
template <class T>
void exchange_rows(T* columns, std::int64_t count, std::int64_t leading, const std::int64_t* order,
                   std::int64_t first, std::int64_t last) {
    for (std::int64_t j = 0; j < count; ++j) {
        T* const column = columns + j * leading;
        for (std::int64_t i = first; i < last; ++i) {
            std::swap(column[i], column[order[i]]);
        }
    }
}

/// Calls run(first column, columns) for tiles of [first, last).
template <class F>
void for_tiles(std::int64_t first, std::int64_t last, F&& run) {
    const std::int64_t tiles = (last - first + k_factor_tile - 1) / k_factor_tile;
    quern::parallel_for(std::int64_t{0}, tiles, quern::grain::fixed(1), [&](std::int64_t i) {
        const std::int64_t begin = first + i * k_factor_tile;
        run(begin, std::min(k_factor_tile, last - begin));
    });
}

}  // namespace

template <class T>
bool factor_lu(const blas& library, std::int64_t n, T* a, std::int64_t* order) {
    bool is_regular = true;
    for (std::int64_t k = 0; k < n; k += k_factor_block) {
        const std::int64_t width = std::min(k_factor_block, n - k);
        const std::int64_t rows = n - k;
        T* const corner = a + k * n + k;
        pivots found(library, width);
        std::int64_t info = 0;
        library.of<T>().getrf(&rows, &width, corner, &n, found.data(), &info);
        is_regular = is_regular && info_of(info) == 0;
        for (std::int64_t i = 0; i < width; ++i) {
            order[k + i] = k + found[i] - 1;
        }
        for_tiles(0, k, [&](std::int64_t j, std::int64_t columns) {
            exchange_rows(a + j * n, columns, n, order, k, k + width);
        });
        for_tiles(k + width, n, [&](std::int64_t j, std::int64_t columns) {
            T* const above = a + j * n + k;
            exchange_rows(a + j * n, columns, n, order, k, k + width);
            solve_triangle(library, "L", "L", "N", "U", width, columns, corner, n, above, n);
            subtract_product(library, "N", rows - width, columns, width, corner + width, above,
                             above + width, n, n);
        });
    }
    return is_regular;
}

template <class T>
void solve_lu(const blas& library, std::int64_t n, const T* a, const std::int64_t* order,
              std::int64_t columns, T* b) {
    for_tiles(0, columns, [&](std::int64_t j, std::int64_t count) {
        T* const part = b + j * n;
        exchange_rows(part, count, n, order, 0, n);
        solve_triangle(library, "L", "L", "N", "U", n, count, a, n, part, n);
        solve_triangle(library, "L", "U", "N", "N", n, count, a, n, part, n);
    });
}

template <class T>
bool factor_cholesky(const blas& library, std::int64_t n, T* a) {
    for (std::int64_t k = 0; k < n; k += k_factor_block) {
        const std::int64_t width = std::min(k_factor_block, n - k);
        T* const corner = a + k * n + k;
        std::int64_t info = 0;
        library.of<T>().potrf("L", &width, corner, &n, &info, 1);
        if (info_of(info) != 0) return false;
        for_tiles(k + width, n, [&](std::int64_t i, std::int64_t rows) {
            solve_triangle(library, "R", "L", "T", "N", rows, width, corner, n, a + k * n + i, n);
        });
        for_tiles(k + width, n, [&](std::int64_t j, std::int64_t columns) {
            const T* const left = a + k * n + j;
            subtract_product(library, "T", n - j, columns, width, left, left, a + j * n + j, n, n);
        });
    }
    return true;
}

#define QUERN_ARRAYS_FACTOR(T)                                                          \
    template bool factor_lu<T>(const blas&, std::int64_t, T*, std::int64_t*);           \
    template void solve_lu<T>(const blas&, std::int64_t, const T*, const std::int64_t*, \
                              std::int64_t, T*);                                        \
    template bool factor_cholesky<T>(const blas&, std::int64_t, T*);
QUERN_ARRAYS_FACTOR(float)
QUERN_ARRAYS_FACTOR(double)
#undef QUERN_ARRAYS_FACTOR

}  // namespace quern::arrays::detail
