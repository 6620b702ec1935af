// SPDX-License-Identifier: BSL-1.0
// qr, eigh and svd, with LAPACK's functions that NumPy calls.
#include "primitives/linear_algebra.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace quern::arrays::detail {

namespace {

/// Calls run(work, size) with size -1 to ask how much work space is wanted, then with that.
template <class T, class F>
void with_work_space(F&& run) {
    std::vector<T> work(1);
    run(work.data(), std::int64_t{-1});
    const auto wanted = static_cast<std::size_t>(work[0]);  // a float may have rounded it down
    work.resize(wanted + wanted / 1'000'000 + 1u);
    run(work.data(), static_cast<std::int64_t>(work.size()));
}

template <class T>
void write_identity(T* to, std::int64_t n) {
    std::fill_n(to, n * n, T(0));
    for (std::int64_t i = 0; i < n; ++i) {
        to[i * n + i] = 1;
    }
}

/// Factors one matrix, columns first; writes R and, if there is room, Q.
template <class T>
void factor_qr(const blas& library, const matrix_stack& all, std::int64_t i, const matrix_stack* q,
               const matrix_stack& r) {
    const std::int64_t m = all.rows;
    const std::int64_t n = all.columns;
    const std::int64_t shorter = std::min(m, n);
    const auto& f = library.of<T>();
    std::vector<T> factors(static_cast<std::size_t>(shorter) + 1u);
    std::int64_t info = 0;
    T* const a = all.at<T>(i);
    if (shorter > 0) {
        with_work_space<T>([&](T* work, std::int64_t size) {
            f.geqrf(&m, &n, a, &m, factors.data(), work, &size, &info);
        });
    }
    for (std::int64_t j = 0; j < n; ++j) {
        const std::int64_t used = std::min(j + 1, std::min(m, r.rows));
        T* const to = std::copy_n(a + j * m, used, r.at<T>(i) + j * r.rows);
        std::fill_n(to, r.rows - used, T(0));
    }
    if (q == nullptr) return;
    if (shorter == 0) return write_identity(q->at<T>(i), q->columns == q->rows ? q->rows : 0);
    std::copy_n(a, m * std::min(n, q->columns), q->at<T>(i));
    with_work_space<T>([&](T* work, std::int64_t size) {
        f.orgqr(&m, &q->columns, &shorter, q->at<T>(i), &m, factors.data(), work, &size, &info);
    });
}

value run_qr(std::span<const value> in) {
    const array a = matrices_from(in[0]);
    const std::string mode = word_from(in[1], "mode");
    if (mode != "reduced" && mode != "complete" && mode != "r") {
        throw std::invalid_argument("Unrecognized mode '" + mode +
                                    "'; accepted: reduced, complete, r");
    }
    const dtype type = lapack_type(a.type());
    const matrix_stack all(a, type);
    const blas& library = current_lapack("qr");
    const serial_blas serial(library);
    const std::int64_t inner = mode == "complete" ? all.rows : std::min(all.rows, all.columns);
    const matrix_stack q(all, type, all.rows, mode == "r" ? 0 : inner);
    const matrix_stack r(all, type, inner, all.columns);
    with_float(type, [&]<class T>(const T*) {
        for_matrices(all, 2 * all.rows * all.columns * inner, [&](std::int64_t i) {
            factor_qr<T>(library, all, i, mode == "r" ? nullptr : &q, r);
        });
    });
    if (mode == "r") return r.result();
    return tuple_of({q.result(), r.result()});
}

template <class T>
void call_syevd(const blas& library, const char* job, const char* triangle, std::int64_t n, T* a,
                T* eigenvalues) {
    if (n == 0) return;
    std::vector<std::int64_t> whole_work(1);
    std::int64_t info = 0;
    with_work_space<T>([&](T* work, std::int64_t size) {
        if (size != -1) {
            whole_work.resize(static_cast<std::size_t>(info_of(whole_work[0])) + 1u);
        }
        const std::int64_t whole_size =
            size == -1 ? -1 : static_cast<std::int64_t>(whole_work.size());
        library.of<T>().syevd(job, triangle, &n, a, &n, eigenvalues, work, &size, whole_work.data(),
                              &whole_size, &info, 1, 1);
    });
    if (info_of(info) != 0) refuse_matrix("Eigenvalues did not converge");
}

/// Eigenvalues; the matrices become the eigenvectors if those are wanted.
array eigenvalues_of(const char* what, const matrix_stack& all, const value& which, bool vectors) {
    const std::string triangle = word_from(which, "UPLO");
    if (triangle != "L" && triangle != "U" && triangle != "l" && triangle != "u") {
        throw std::invalid_argument("UPLO argument must be 'L' or 'U'");
    }
    const blas& library = current_lapack(what);
    const serial_blas serial(library);
    array found = vectors_of(all, all.memory.type(), all.rows);
    with_float(found.type(), [&]<class T>(const T*) {
        const std::int64_t n = all.rows;
        for_matrices(all, 4 * n * n * n, [&](std::int64_t i) {
            call_syevd(library, vectors ? "V" : "N", triangle.c_str(), n, all.at<T>(i),
                       found.data<T>() + i * n);
        });
    });
    return found;
}

value run_eigh(std::span<const value> in) {
    const array a = square_matrices_from(in[0]);
    const matrix_stack all(a, lapack_type(a.type()));
    array found = eigenvalues_of("eigh", all, in[1], true);
    return tuple_of({std::move(found), all.result()});
}

value run_eigvalsh(std::span<const value> in) {
    const array a = square_matrices_from(in[0]);
    return eigenvalues_of("eigvalsh", matrix_stack(a, lapack_type(a.type())), in[1], false);
}

/// Where the results of svd are written; u and vh have no columns or rows for values alone.
struct svd_results {
    matrix_stack u;
    matrix_stack vh;
    array values;
};

template <class T>
void call_gesdd(const blas& library, const char* job, const matrix_stack& all, std::int64_t i,
                const svd_results& to) {
    const std::int64_t m = all.rows;
    const std::int64_t n = all.columns;
    const std::int64_t shorter = std::min(m, n);
    if (shorter == 0) {
        if (*job == 'A') write_identity(to.u.at<T>(i), m);
        if (*job == 'A') write_identity(to.vh.at<T>(i), n);
        return;
    }
    std::vector<std::int64_t> whole_work(static_cast<std::size_t>(8 * shorter));
    const std::int64_t vh_rows = std::max<std::int64_t>(1, to.vh.rows);
    std::int64_t info = 0;
    with_work_space<T>([&](T* work, std::int64_t size) {
        library.of<T>().gesdd(job, &m, &n, all.at<T>(i), &m, to.values.data<T>() + i * shorter,
                              to.u.at<T>(i), &m, to.vh.at<T>(i), &vh_rows, work, &size,
                              whole_work.data(), &info, 1);
    });
    if (info_of(info) != 0) refuse_matrix("SVD did not converge");
}

svd_results svd_of(const char* what, const array& a, const char* job) {
    const dtype type = lapack_type(a.type());
    const matrix_stack all(a, type);
    const std::int64_t shorter = std::min(all.rows, all.columns);
    const bool values_only = *job == 'N';
    const bool full = *job == 'A';
    const std::int64_t left = values_only ? 0 : full ? all.rows : shorter;
    const std::int64_t right = values_only ? 0 : full ? all.columns : shorter;
    svd_results made{matrix_stack(all, type, all.rows, left),
                     matrix_stack(all, type, right, all.columns), vectors_of(all, type, shorter)};
    const blas& library = current_lapack(what);
    const serial_blas serial(library);
    with_float(type, [&]<class T>(const T*) {
        for_matrices(all, 8 * all.rows * all.columns * shorter,
                     [&](std::int64_t i) { call_gesdd<T>(library, job, all, i, made); });
    });
    return made;
}

value run_svd(std::span<const value> in) {
    const array a = matrices_from(in[0]);
    if (!truth_of(in[2])) return svd_of("svd", a, "N").values;
    const svd_results made = svd_of("svd", a, truth_of(in[1]) ? "A" : "S");
    return tuple_of({made.u.result(), made.values, made.vh.result()});
}

value run_svdvals(std::span<const value> in) {
    return svd_of("svdvals", matrices_from(in[0]), "N").values;
}

constexpr primitive k_decompositions[] = {
    {"eigh", "a, UPLO='L'", run_eigh},   {"eigvalsh", "a, UPLO='L'", run_eigvalsh},
    {"qr", "a, mode='reduced'", run_qr}, {"svd", "a, full_matrices=True, compute_uv=True", run_svd},
    {"svdvals", "x", run_svdvals},
};

}  // namespace

std::span<const primitive> decomposition_primitives() noexcept { return k_decompositions; }

}  // namespace quern::arrays::detail
