// SPDX-License-Identifier: BSL-1.0
// Systems of equations: inv, solve, det, slogdet, cholesky, lu, lstsq, with LAPACK's functions that
// NumPy calls.
#include "blas/factor.hpp"
#include "primitives/linear_algebra.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace quern::arrays::detail {

namespace {

/// The library, whose own threads rest: its functions with threads need more than a task's stack.
struct lapack_call {
    const blas& library;
    serial_blas serial;
    explicit lapack_call(const char* what) : library(current_lapack(what)), serial(library) {}
};

std::int64_t leading_of(std::int64_t rows) { return std::max<std::int64_t>(1, rows); }

enum class triangle { none, lower, upper };

template <class T>
bool are_finite(const T* all, std::int64_t count) {
    T sum = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        sum += all[i] * T(0);  // nan of inf and nan
    }
    return sum == T(0);
}

/// Where a matrix has all that is not 0.
template <class T>
triangle triangle_of(const T* a, std::int64_t n) {
    bool is_lower = true;
    bool is_upper = true;
    for (std::int64_t j = 0; j < n && (is_lower || is_upper); ++j) {
        const T* const column = a + j * n;
        const auto has = [](T x) { return x != T(0); };
        is_lower = is_lower && std::none_of(column, column + j, has);
        is_upper = is_upper && std::none_of(column + j + 1, column + n, has);
    }
    return is_lower ? triangle::lower : is_upper ? triangle::upper : triangle::none;
}

/// b becomes the solution of a x = b by substitution. False: a is singular.
template <class T>
bool substitute(triangle of, const T* a, std::int64_t n, T* b) {
    for (std::int64_t k = 0; k < n; ++k) {
        const std::int64_t j = of == triangle::lower ? k : n - 1 - k;
        const T* const column = a + j * n;
        if (column[j] == T(0)) return false;
        const T x = b[j] /= column[j];
        const std::int64_t first = of == triangle::lower ? j + 1 : 0;
        const std::int64_t last = of == triangle::lower ? n : j;
        for (std::int64_t i = first; i < last; ++i) {
            b[i] -= x * column[i];
        }
    }
    return true;
}

/// Solves a triangular system as it is, without factors: those of a Cholesky factorisation are.
/// False: it is none, or has elements that are not finite, for which LAPACK's order of operations
/// shows in the result.
template <class T>
bool solve_triangle(const T* a, std::int64_t n, T* b, std::int64_t columns) {
    constexpr std::int64_t k_most_columns = 4;  // more are dearer than LAPACK's blocks
    if (columns > k_most_columns) return false;
    const triangle of = triangle_of(a, n);
    if (of == triangle::none || !are_finite(a, n * n) || !are_finite(b, n * columns)) return false;
    for (std::int64_t j = 0; j < columns; ++j) {
        if (!substitute(of, a, n, b + j * n)) refuse_matrix("Singular matrix");
    }
    return true;
}

/// b becomes the solution of a x = b for each matrix; a is overwritten.
template <class T>
void solve_all(const char* what, const matrix_stack& a, const matrix_stack& b) {
    const lapack_call lapack(what);
    const std::int64_t n = a.rows;
    if (n == 0 || b.columns == 0) return;
    for_matrices(a, n * n * (n + b.columns), [&](std::int64_t i) {
        if (solve_triangle(a.at<T>(i), n, b.at<T>(i), b.columns)) return;
        if (n >= k_blocked_size) {
            std::vector<std::int64_t> order(static_cast<std::size_t>(n));
            if (!factor_lu(lapack.library, n, a.at<T>(i), order.data())) {
                refuse_matrix("Singular matrix");
            }
            return solve_lu(lapack.library, n, a.at<T>(i), order.data(), b.columns, b.at<T>(i));
        }
        pivots order(lapack.library, n);
        std::int64_t info = 0;
        lapack.library.of<T>().gesv(&n, &b.columns, a.at<T>(i), &n, order.data(), b.at<T>(i), &n,
                                    &info);
        if (info_of(info) != 0) refuse_matrix("Singular matrix");
    });
}

value run_inv(std::span<const value> in) {
    const array a = square_matrices_from(in[0]);
    const dtype type = lapack_type(a.type());
    const matrix_stack matrices(a, type);
    const matrix_stack inverses(matrices, type, matrices.rows, matrices.rows);
    with_float(type, [&]<class T>(const T*) {
        const std::int64_t n = matrices.rows;
        T* const all = inverses.at<T>(0);
        std::fill_n(all, inverses.memory.size(), T(0));
        for (std::int64_t i = 0; i < matrices.count * n; ++i) {
            all[i * n + i % n] = 1;
        }
        solve_all<T>("inv", matrices, inverses);
    });
    return inverses.result();
}

array broadcast_matrices(const array& a, const extents& outer) {
    extents shape = outer;
    shape.push_back(a.shape()[a.dimensions() - 2u]);
    shape.push_back(a.shape().back());
    return broadcast_view(a, shape);
}

value run_solve(std::span<const value> in) {
    const array a = square_matrices_from(in[0]);
    const array right = array_from(in[1], "b");
    if (right.dimensions() == 0) {
        throw std::invalid_argument(
            "solve: Input operand 1 does not have enough dimensions (has 0, gufunc core with "
            "signature (m,m),(m,n)->(m,n) requires 2)");
    }
    const bool is_vector = right.dimensions() == 1;
    const array b = is_vector ? expanded(right, 1) : right;
    if (b.shape()[b.dimensions() - 2u] != a.shape().back()) {
        throw std::invalid_argument(
            std::string(is_vector ? "solve1" : "solve") +
            ": Input operand 1 has a mismatch in its core dimension 0, with gufunc signature " +
            (is_vector ? "(m,m),(m)->(m)" : "(m,m),(m,n)->(m,n)") + " (size " +
            std::to_string(b.shape()[b.dimensions() - 2u]) + " is different from " +
            std::to_string(a.shape().back()) + ")");
    }
    const dtype type = lapack_type(promote(a.type(), b.type()));
    const extents outer = broadcast(outer_shape(a), outer_shape(b));
    const matrix_stack matrices(broadcast_matrices(a, outer), type);
    const matrix_stack solutions(broadcast_matrices(b, outer), type);
    with_float(type, [&]<class T>(const T*) { solve_all<T>("solve", matrices, solutions); });
    const array made = solutions.result();
    return is_vector ? without_axis(made, made.dimensions() - 1u) : made;
}

/// The sign of each determinant and the logarithm of its size.
std::pair<array, array> logarithms(const char* what, const array& a) {
    const dtype type = lapack_type(a.type());
    const matrix_stack all(a, type);
    const array signs = numbers_of(all, type);
    const array logs = numbers_of(all, type);
    const lapack_call lapack(what);
    with_float(type, [&]<class T>(const T*) {
        const std::int64_t n = all.rows;
        for_matrices(all, n * n * n, [&](std::int64_t i) {
            pivots order(lapack.library, n);
            std::int64_t info = 0;
            T* const m = all.at<T>(i);
            if (n > 0) lapack.library.of<T>().getrf(&n, &n, m, &n, order.data(), &info);
            bool is_negative = false;
            T sum = 0;
            for (std::int64_t k = 0; k < n; ++k) {
                is_negative ^= (order[k] != k + 1) != (m[k * n + k] < 0);
                sum += std::log(std::abs(m[k * n + k]));
            }
            const bool is_singular = info_of(info) > 0;
            signs.data<T>()[i] = is_singular ? T(0) : is_negative ? T(-1) : T(1);
            logs.data<T>()[i] = is_singular ? -std::numeric_limits<T>::infinity() : sum;
        });
    });
    return {signs, logs};
}

value run_slogdet(std::span<const value> in) {
    const auto [signs, logs] = logarithms("slogdet", square_matrices_from(in[0]));
    return tuple_of({signs, logs});
}

value run_det(std::span<const value> in) {
    const auto [signs, logs] = logarithms("det", square_matrices_from(in[0]));
    with_float(logs.type(), [&, s = signs, l = logs]<class T>(const T*) {
        for (std::int64_t i = 0; i < l.size(); ++i) {
            l.data<T>()[i] = s.data<T>()[i] * std::exp(l.data<T>()[i]);
        }
    });
    return logs;
}

/// Sets to 0 what lies above (or below) the diagonal of a matrix, columns first.
template <class T>
void clear_triangle(T* m, std::int64_t rows, std::int64_t columns, bool above) {
    for (std::int64_t j = 0; j < columns; ++j) {
        const std::int64_t first = above ? 0 : std::min(j + 1, rows);
        const std::int64_t last = above ? std::min(j, rows) : rows;
        std::fill(m + j * rows + first, m + j * rows + last, T(0));
    }
}

value run_cholesky(std::span<const value> in) {
    const array a = square_matrices_from(in[0]);
    const bool upper = truth_of(in[1]);
    const matrix_stack all(a, lapack_type(a.type()));
    const lapack_call lapack("cholesky");
    with_float(all.memory.type(), [&]<class T>(const T*) {
        const std::int64_t n = all.rows;
        for_matrices(all, n * n * n / 3, [&](std::int64_t i) {
            std::int64_t info = 0;
            if (n >= k_blocked_size && !upper) {
                if (!factor_cholesky(lapack.library, n, all.at<T>(i))) {
                    refuse_matrix("Matrix is not positive definite");
                }
                return clear_triangle(all.at<T>(i), n, n, true);
            }
            if (n == 0) return;
            lapack.library.of<T>().potrf(upper ? "U" : "L", &n, all.at<T>(i), &n, &info, 1);
            if (info_of(info) != 0) refuse_matrix("Matrix is not positive definite");
            clear_triangle(all.at<T>(i), n, n, !upper);
        });
    });
    return all.result();
}

/// p, l, u of one matrix that getrf has factored. All columns first; p and u begin as zeros.
template <class T>
void write_factors(const matrix_stack& all, std::int64_t i, const pivots& order,
                   const matrix_stack& p, const matrix_stack& l, const matrix_stack& u) {
    const std::int64_t m = all.rows;
    const std::int64_t shorter = std::min(m, all.columns);
    const T* const from = all.at<T>(i);
    std::vector<std::int64_t> rows(static_cast<std::size_t>(m));
    for (std::int64_t k = 0; k < m; ++k) {
        rows[static_cast<std::size_t>(k)] = k;
    }
    for (std::int64_t k = 0; k < shorter; ++k) {
        std::swap(rows[static_cast<std::size_t>(k)], rows[static_cast<std::size_t>(order[k] - 1)]);
    }
    std::fill_n(p.at<T>(i), m * m, T(0));
    for (std::int64_t k = 0; k < m; ++k) {
        p.at<T>(i)[k * m + rows[static_cast<std::size_t>(k)]] = 1;
    }
    std::copy_n(from, m * shorter, l.at<T>(i));
    clear_triangle(l.at<T>(i), m, shorter, true);
    for (std::int64_t j = 0; j < all.columns; ++j) {
        std::copy_n(from + j * m, shorter, u.at<T>(i) + j * shorter);
    }
    clear_triangle(u.at<T>(i), shorter, all.columns, false);
    for (std::int64_t k = 0; k < shorter; ++k) {
        l.at<T>(i)[k * m + k] = 1;
    }
}

value run_lu(std::span<const value> in) {
    const array a = matrices_from(in[0]);
    const dtype type = lapack_type(a.type());
    const matrix_stack all(a, type);
    const lapack_call lapack("lu");
    const std::int64_t m = all.rows;
    const std::int64_t n = all.columns;
    const std::int64_t shorter = std::min(m, n);
    const matrix_stack p(all, type, m, m);
    const matrix_stack l(all, type, m, shorter);
    const matrix_stack u(all, type, shorter, n);
    with_float(type, [&]<class T>(const T*) {
        for_matrices(all, m * n * shorter, [&](std::int64_t i) {
            pivots order(lapack.library, shorter);
            std::int64_t info = 0;
            if (shorter > 0) {
                lapack.library.of<T>().getrf(&m, &n, all.at<T>(i), &m, order.data(), &info);
            }
            write_factors<T>(all, i, order, p, l, u);
        });
    });
    if (!truth_of(in[1])) return tuple_of({p.result(), l.result(), u.result()});
    return tuple_of({product(p.result(), l.result()), u.result()});
}

/// What gelsd gives for one system.
struct least_squares {
    array singular_values;
    std::int64_t rank = 0;
};

template <class T>
least_squares call_gelsd(const blas& library, T* a, std::int64_t m, std::int64_t n, T* b,
                         std::int64_t right, T rcond) {
    const std::int64_t shorter = std::min(m, n);
    const std::int64_t leading = leading_of(std::max(m, n));
    const std::int64_t rows = leading_of(m);
    least_squares made{array(dtype_of<T>, {shorter}), 0};
    std::vector<T> work(1);
    std::vector<std::int64_t> whole_work(1);
    std::int64_t info = 0;
    for (std::int64_t size = -1;; size = static_cast<std::int64_t>(work.size())) {
        library.of<T>().gelsd(&m, &n, &right, a, &rows, b, &leading,
                              made.singular_values.template data<T>(), &rcond, &made.rank,
                              work.data(), &size, whole_work.data(), &info);
        if (size != -1) break;
        work.resize(static_cast<std::size_t>(work[0]));
        whole_work.resize(static_cast<std::size_t>(info_of(whole_work[0])) + 1u);
    }
    if (info_of(info) != 0) refuse_matrix("SVD did not converge in Linear Least Squares");
    made.rank = info_of(made.rank);
    return made;
}

/// The sums of squares of what b's columns have below row n.
template <class T>
array residuals(const matrix_stack& b, std::int64_t m, std::int64_t n) {
    array made(dtype_of<T>, {b.columns});
    for (std::int64_t j = 0; j < b.columns; ++j) {
        T sum = 0;
        for (std::int64_t i = n; i < m; ++i) {
            const T x = b.at<T>(0)[j * b.rows + i];
            sum += x * x;
        }
        made.data<T>()[j] = sum;
    }
    return made;
}

value run_lstsq(std::span<const value> in) {
    const array a = matrices_from(in[0]);
    const array right = array_from(in[1], "b");
    const array b = right.dimensions() == 1 ? expanded(right, 1) : right;
    if (a.dimensions() != 2 || b.dimensions() != 2) {
        throw std::invalid_argument(std::to_string(std::max(a.dimensions(), b.dimensions())) +
                                    "-dimensional array given. Array must be two-dimensional");
    }
    if (a.shape()[0] != b.shape()[0]) throw std::invalid_argument("Incompatible dimensions");
    const dtype type = lapack_type(promote(a.type(), b.type()));
    const std::int64_t m = a.shape()[0];
    const std::int64_t n = a.shape()[1];
    const matrix_stack left(a, type);
    const lapack_call lapack("lstsq");
    const matrix_stack answer(left, type, std::max(m, n), b.shape()[1]);
    std::fill_n(answer.memory.bytes(), answer.memory.size() * std::int64_t(size_of(type)),
                std::byte{0});
    copy_elements(part_of(answer.result(), 0, 0, m), b);
    return with_float(type, [&]<class T>(const T*) -> value {
        const T least = std::numeric_limits<T>::epsilon() * static_cast<T>(std::max(m, n));
        const T rcond = in[2].is_none() ? least : static_cast<T>(number_from(in[2], "rcond"));
        const least_squares found =
            call_gelsd(lapack.library, left.at<T>(0), m, n, answer.at<T>(0), answer.columns, rcond);
        const bool has_rest = found.rank == n && m > n;
        array x = part_of(answer.result(), 0, 0, n);
        if (right.dimensions() == 1) x = without_axis(x, 1);
        return tuple_of({x, has_rest ? residuals<T>(answer, m, n) : array(type, {0}),
                         converted(array_from(found.rank, "rank"), dtype::int32),
                         found.singular_values});
    });
}

constexpr primitive k_solvers[] = {
    {"cholesky", "a, upper=False", run_cholesky},
    {"det", "a", run_det},
    {"inv", "a", run_inv},
    {"lstsq", "a, b, rcond=None", run_lstsq},
    {"lu", "a, permute_l=False", run_lu},
    {"slogdet", "a", run_slogdet},
    {"solve", "a, b", run_solve},
};

}  // namespace

std::span<const primitive> solver_primitives() noexcept { return k_solvers; }

}  // namespace quern::arrays::detail
