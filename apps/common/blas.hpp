// SPDX-License-Identifier: BSL-1.0
// The kernels of BLAS and LAPACK that the dense linear algebra of apps/ and bench/ is made of, by
// their Fortran names, on matrices of doubles by columns. Any number of threads may call them, for
// distinct results. Must not include anything of a runtime: bench/ measures them all with it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

extern "C" {
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*,
            const double*, const int*, const double*, const int*, const double*, double*,
            const int*);
void dsyrk_(const char*, const char*, const int*, const int*, const double*, const double*,
            const int*, const double*, double*, const int*);
void dtrsm_(const char*, const char*, const char*, const char*, const int*, const int*,
            const double*, const double*, const int*, double*, const int*);
void dtrmm_(const char*, const char*, const char*, const char*, const int*, const int*,
            const double*, const double*, const int*, double*, const int*);
void dtrtri_(const char*, const char*, const int*, double*, const int*, int*);
void dpotrf_(const char*, const int*, double*, const int*, int*);
void dgetrf_(const int*, const int*, double*, const int*, int*, int*);
void dlaswp_(const int*, double*, const int*, const int*, const int*, const int*, const int*);
void dgeqrf_(const int*, const int*, double*, const int*, double*, double*, const int*, int*);
void dormqr_(const char*, const char*, const int*, const int*, const int*, const double*,
             const int*, const double*, double*, const int*, double*, const int*, int*, std::size_t,
             std::size_t);
void dgeqrt_(const int*, const int*, const int*, double*, const int*, double*, const int*, double*,
             int*);
void dtpqrt_(const int*, const int*, const int*, const int*, double*, const int*, double*,
             const int*, double*, const int*, double*, int*);
// The last two, here and above, are the lengths of the character arguments: these are compiled from
// Fortran.
void dgemqrt_(const char*, const char*, const int*, const int*, const int*, const int*,
              const double*, const int*, const double*, const int*, double*, const int*, double*,
              int*, std::size_t, std::size_t);
void dtpmqrt_(const char*, const char*, const int*, const int*, const int*, const int*, const int*,
              const double*, const int*, const double*, const int*, double*, const int*, double*,
              const int*, double*, int*, std::size_t, std::size_t);
void openblas_set_num_threads(int);
int openblas_get_parallel();
char* openblas_get_corename();
}

namespace blas {

/// Where a matrix is; column c begins at `at + c * stride`.
struct matrix {
    double* at = nullptr;
    int rows = 0;
    int columns = 0;
    int stride = 0;  ///< at least rows

    double& operator()(int r, int c) const { return at[r + std::ptrdiff_t{c} * stride]; }
    /// Rows and columns from (r, c).
    matrix from(int r, int c, int height, int width) const {
        return {&(*this)(r, c), height, width, stride};
    }
};

inline constexpr double k_one = 1;
inline constexpr double k_minus_one = -1;
inline constexpr double k_zero = 0;

/// Each call uses the calling thread alone, until threads() says otherwise. Throws
/// std::runtime_error if the library may not be called by several threads at a time.
inline void use_calling_thread() {
    constexpr int k_by_posix_threads = 1;
    if (openblas_get_parallel() != k_by_posix_threads) {
        throw std::runtime_error(
            "this OpenBLAS is not its build for POSIX threads, and others may not be called by "
            "several threads at a time (Debian: libopenblas0-pthread)");
    }
    openblas_set_num_threads(1);
}

/// OpenBLAS divides the calls by itself while this lives. Not beside calls of other threads.
class threads {
public:
    explicit threads(int n) { openblas_set_num_threads(n); }
    ~threads() { openblas_set_num_threads(1); }
    threads(const threads&) = delete;
    threads& operator=(const threads&) = delete;
};

/// For which processor the kernels in use are made. OpenBLAS uses the oldest ones, Prescott's, on a
/// processor that is younger than itself.
inline std::string_view kernels() { return openblas_get_corename(); }

/// c = beta c + alpha op(a) op(b); 'N' or 'T' for each.
inline void gemm(char op_a, char op_b, double alpha, const matrix& a, const matrix& b, double beta,
                 const matrix& c) {
    const int depth = op_a == 'N' ? a.columns : a.rows;
    dgemm_(&op_a, &op_b, &c.rows, &c.columns, &depth, &alpha, a.at, &a.stride, b.at, &b.stride,
           &beta, c.at, &c.stride);
}

/// The lower triangle of c -= that of a times the transposed a.
inline void syrk(const matrix& a, const matrix& c) {
    dsyrk_("L", "N", &c.rows, &a.columns, &k_minus_one, a.at, &a.stride, &k_one, c.at, &c.stride);
}

/// a = a times the transposed lower triangle l.
inline void trmm_right(const matrix& l, const matrix& a) {
    dtrmm_("R", "L", "T", "N", &a.rows, &a.columns, &k_one, l.at, &l.stride, a.at, &a.stride);
}

/// a = the inverse of its lower triangle, whose diagonal has no 0.
inline void invert_lower(const matrix& a) {
    int info = 0;
    dtrtri_("L", "N", &a.rows, a.at, &a.stride, &info);
}

/// a = the inverse of the lower triangle l, with ones on its diagonal, times a.
inline void trsm_left(const matrix& l, const matrix& a) {
    dtrsm_("L", "L", "N", "U", &a.rows, &a.columns, &k_one, l.at, &l.stride, a.at, &a.stride);
}

/// a = the inverse of the upper triangle u times a.
inline void trsm_upper(const matrix& u, const matrix& a) {
    dtrsm_("L", "U", "N", "N", &a.rows, &a.columns, &k_one, u.at, &u.stride, a.at, &a.stride);
}

/// a = op(l) a for the triangle of l; 'L' or 'U', 'N' or 'T', 'U' if its diagonal is of ones, else
/// 'N'.
inline void trmm(char triangle, char op, char diagonal, const matrix& l, const matrix& a) {
    dtrmm_("L", &triangle, &op, &diagonal, &a.rows, &a.columns, &k_one, l.at, &l.stride, a.at,
           &a.stride);
}

/// a = the Cholesky factor of its lower triangle. Returns 0, or the order of the first leading
/// minor that is not positive.
[[nodiscard]] inline int potrf(const matrix& a) {
    int info = 0;
    dpotrf_("L", &a.rows, a.at, &a.stride, &info);
    return info;
}

/// a = its factors L and U, with rows exchanged: row i with row pivots[i], counted from 1. Returns
/// 0, or the first column, counted from 1, whose pivot is 0.
[[nodiscard]] inline int getrf(const matrix& a, int* pivots) {
    int info = 0;
    dgetrf_(&a.rows, &a.columns, a.at, &a.stride, pivots, &info);
    return info;
}

/// Exchanges row i of a with row pivots[i], counted from 1, for i in [0, n).
inline void swap_rows(const matrix& a, const int* pivots, int n) {
    constexpr int k_first = 1;
    dlaswp_(&a.columns, a.at, &a.stride, &k_first, &n, pivots, &k_first);
}

/// The same pivots from the last to the first: undoes swap_rows.
inline void swap_rows_back(const matrix& a, const int* pivots, int n) {
    constexpr int k_first = 1;
    constexpr int k_backwards = -1;
    dlaswp_(&a.columns, a.at, &a.stride, &k_first, &n, pivots, &k_backwards);
}

/// a = R above the diagonal and the Householder vectors below it, by LAPACK's blocked algorithm.
inline void geqrf(const matrix& a, std::vector<double>& tau) {
    tau.resize(static_cast<std::size_t>(std::min(a.rows, a.columns)));
    int info = 0;
    double best = 0;
    constexpr int k_ask = -1;
    dgeqrf_(&a.rows, &a.columns, a.at, &a.stride, tau.data(), &best, &k_ask, &info);
    const int size = static_cast<int>(best);
    std::vector<double> work(static_cast<std::size_t>(size));
    dgeqrf_(&a.rows, &a.columns, a.at, &a.stride, tau.data(), work.data(), &size, &info);
}

/// c = op(Q) c of geqrf; op 'N' or 'T'.
inline void ormqr(char op, const matrix& a, const std::vector<double>& tau, const matrix& c) {
    constexpr int k_block = 64;  // columns that are applied at a time
    const int size = std::max(1, c.columns) * k_block + 65 * 64;  // as LAPACK's documentation asks
    std::vector<double> work(static_cast<std::size_t>(size));
    const int reflectors = static_cast<int>(tau.size());
    int info = 0;
    dormqr_("L", &op, &c.rows, &c.columns, &reflectors, a.at, &a.stride, tau.data(), c.at,
            &c.stride, work.data(), &size, &info, 1, 1);
}

// Tile QR (Buttari, Langou, Kurzak, Dongarra 2009) by the kernels of LAPACK 3.4. Columns are taken
// in blocks of t.rows; t has as many columns as there are vectors.

/// a = R and, below the diagonal, the vectors V; t: the factors of the block reflectors.
inline void geqrt(const matrix& a, const matrix& t) {
    std::vector<double> work(static_cast<std::size_t>(t.rows) *
                             static_cast<std::size_t>(a.columns));
    int info = 0;
    dgeqrt_(&a.rows, &a.columns, &t.rows, a.at, &a.stride, t.at, &t.stride, work.data(), &info);
}

/// c = op(Q) c of geqrt; op 'N' or 'T'.
inline void gemqrt(char op, const matrix& v, const matrix& t, const matrix& c) {
    std::vector<double> work(static_cast<std::size_t>(t.rows) *
                             static_cast<std::size_t>(c.columns));
    const int reflectors = std::min(v.rows, v.columns);
    int info = 0;
    dgemqrt_("L", &op, &c.rows, &c.columns, &reflectors, &t.rows, v.at, &v.stride, t.at, &t.stride,
             c.at, &c.stride, work.data(), &info, 1, 1);
}

/// r, an upper triangle, above b: r = the R of both, b = the vectors.
inline void tpqrt(const matrix& r, const matrix& b, const matrix& t) {
    std::vector<double> work(static_cast<std::size_t>(t.rows) *
                             static_cast<std::size_t>(b.columns));
    constexpr int k_rectangular = 0;
    int info = 0;
    dtpqrt_(&b.rows, &b.columns, &k_rectangular, &t.rows, r.at, &r.stride, b.at, &b.stride, t.at,
            &t.stride, work.data(), &info);
}

/// a above b = op(Q) of tpqrt times both.
inline void tpmqrt(char op, const matrix& v, const matrix& t, const matrix& a, const matrix& b) {
    std::vector<double> work(static_cast<std::size_t>(t.rows) *
                             static_cast<std::size_t>(b.columns));
    constexpr int k_rectangular = 0;
    int info = 0;
    dtpmqrt_("L", &op, &b.rows, &b.columns, &v.columns, &k_rectangular, &t.rows, v.at, &v.stride,
             t.at, &t.stride, a.at, &a.stride, b.at, &b.stride, work.data(), &info, 1, 1);
}

}  // namespace blas
