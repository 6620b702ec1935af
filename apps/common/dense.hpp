// SPDX-License-Identifier: BSL-1.0
// Shared by cholesky, lu and qr: their options, the matrix of pseudo-random numbers, residuals as
// LAPACK's tests define them, and the output. Must not contain anything of one factorisation.
#pragma once

#include "blas.hpp"
#include "blocks.hpp"
#include "element.hpp"
#include "measure.hpp"
#include "table.hpp"

#include <quern/dependences/tiles.hpp>
#include <quern/dependences/tiles_view.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace apps::dense {

/// Options of all three.
struct sizes : block_sizes {
    bool compares = true;

    sizes()
        : block_sizes{
              .n = 1024,
              .side = 128,
              .words = {.option = "--tile", .side = "rows and columns of a tile, at most n"}} {}

    void add_to(cli::command& app) {
        block_sizes::add_to(app);
        app.add(
               "--compare",
               [this](const std::string& text) {
                   compares = checked_word("--compare", text, {"on", "off"}) == "on";
               },
               "also run LAPACK on the whole matrix, by one thread and by OpenBLAS's own (on, off)")
            .type("NAME")
            .shows_default("on");
    }
};

/// Throws std::runtime_error if `matrices` matrices of n by n are more than the memory of the
/// machine that is available: the kernel would end the program, not refuse an allocation.
inline void require_memory(std::size_t n, int matrices) {
    std::ifstream info("/proc/meminfo");
    std::string word;
    double available = std::numeric_limits<double>::infinity();
    while (info >> word) {
        if (word == "MemAvailable:" && info >> available) {
            available *= 1024;  // KiB
            break;
        }
    }
    const double wanted = static_cast<double>(n) * static_cast<double>(n) * sizeof(double) *
                          static_cast<double>(matrices);
    if (wanted > available) {
        throw std::runtime_error(
            fmt::format("{} rows and columns need {:.1f} GB of memory; {:.1f} GB are available", n,
                        wanted / 1e9, available / 1e9));
    }
}

/// A matrix by columns.
class columns {
public:
    columns(std::size_t rows, std::size_t width) : m_rows(rows), m_numbers(rows * width) {}

    std::size_t rows() const { return m_rows; }
    std::size_t width() const { return m_numbers.size() / m_rows; }
    double& operator()(std::size_t r, std::size_t c) { return m_numbers[c * m_rows + r]; }
    double operator()(std::size_t r, std::size_t c) const { return m_numbers[c * m_rows + r]; }
    double* data() { return m_numbers.data(); }
    blas::matrix all() {
        return {m_numbers.data(), static_cast<int>(m_rows), static_cast<int>(width()),
                static_cast<int>(m_rows)};
    }

    /// The largest sum of absolute values of a column; not a number if one is none.
    double norm() const {
        double worst = 0;
        for (std::size_t c = 0; c < width(); ++c) {
            double sum = 0;
            for (std::size_t r = 0; r < m_rows; ++r) {
                sum += std::abs((*this)(r, c));
            }
            worst = sum <= worst ? worst : sum;
        }
        return worst;
    }

private:
    std::size_t m_rows;
    std::vector<double> m_numbers;
};

/// Of a tile in either layout.
inline blas::matrix in_blas(quern::strided_tile<double> t) {
    return {t.data(), static_cast<int>(t.rows()), static_cast<int>(t.columns()),
            static_cast<int>(t.leading_dimension())};
}

/// What a factorisation is multiplied with for its residual. Of a small matrix the whole is tested,
/// with the identity; of a large one what it does to two vectors, which takes n^2 operations.
inline columns probe(std::size_t n) {
    constexpr std::size_t k_small = 300;
    columns x(n, n <= k_small ? n : 2);
    for (std::size_t c = 0; c < x.width(); ++c) {
        for (std::size_t r = 0; r < n; ++r) {
            x(r, c) = n <= k_small ? (r == c ? 1 : 0) : 2 * element(r, n + c, 0);
        }
    }
    return x;
}

/// y -= A x for the matrix A of a(row, column). Returns the norm of A.
template <class A>
double subtract_product(const A& a, const columns& x, columns& y) {
    double norm = 0;
    std::vector<double> column(x.rows());
    for (std::size_t c = 0; c < x.rows(); ++c) {
        double sum = 0;
        for (std::size_t r = 0; r < x.rows(); ++r) {
            column[r] = a(r, c);
            sum += std::abs(column[r]);
        }
        norm = std::max(norm, sum);
        for (std::size_t v = 0; v < x.width(); ++v) {
            const double by = x(c, v);
            for (std::size_t r = 0; by != 0 && r < x.rows(); ++r) {
                y(r, v) -= column[r] * by;
            }
        }
    }
    return norm;
}

/// |difference| / (|A| |x| n eps): of the order of 1 at most for a backward stable factorisation
/// (LAPACK's tests; Higham, Accuracy and Stability, 9.3, 10.1 and 19.3).
inline double scaled(const columns& difference, double norm_of_a, const columns& x) {
    constexpr double k_eps = std::numeric_limits<double>::epsilon();
    return difference.norm() / (norm_of_a * x.norm() * static_cast<double>(x.rows()) * k_eps);
}

/// Keeps the worst residual; throws if one is too large, which LAPACK's tests call 30.
class residuals {
public:
    void take(double found) {
        constexpr double k_most = 30;
        if (!(found <= k_most)) {
            throw std::runtime_error(fmt::format("wrong answer: the residual is {}", found));
        }
        m_worst = std::max(m_worst, found);
    }
    double worst() const { return m_worst; }

private:
    double m_worst = 0;
};

/// Says that OpenBLAS uses far slower kernels than the processor would allow.
inline void warn_of_old_kernels() {
#if defined(__x86_64__)
    if (blas::kernels() == "Prescott" && __builtin_cpu_supports("avx2")) {
        fmt::print(stderr,
                   "note: OpenBLAS does not know this processor and uses its kernels for Prescott; "
                   "OPENBLAS_CORETYPE={} selects faster ones\n",
                   __builtin_cpu_supports("avx512f") ? "SkylakeX" : "Haswell");
    }
#endif
}

/// Once the options are known. Throws as require_memory() and use_calling_thread() do.
inline void prepare(const sizes& s, int matrices) {
    require_memory(s.n, matrices);
    blas::use_calling_thread();
    warn_of_old_kernels();
}

/// Seconds that f() takes; adds to `during` what the workers did meanwhile.
template <class F>
double seconds_and_totals(const quern::runtime& rt, quern::worker_totals& during, F&& f) {
    double seconds = 0;
    during += totals_of(rt, [&] { seconds = seconds_of(f); });
    return seconds;
}

/// What an application measures. Each function fills the matrix, factorises it, checks the factors
/// and returns the seconds of the factorisation.
struct measured {
    std::string name;
    std::size_t tasks;
    double flop;
    std::function<double()> lapack;  ///< LAPACK's function on the whole matrix
    std::vector<variant> by_tasks;
    const quern::worker_totals& workers;  ///< during the factorisations by tasks
};

/// Runs LAPACK by one thread, the tasks, and LAPACK by OpenBLAS's own threads, in turns.
inline void measure_and_print(const quern::runtime& rt, const sizes& s, const measured& p,
                              const residuals& found) {
    const auto workers = static_cast<int>(rt.workers());
    std::vector<variant> all = p.by_tasks;
    if (s.compares) {
        all.insert(all.begin(), {"LAPACK", p.lapack});
        all.push_back({"OpenBLAS's threads", [&] {
                           const blas::threads divided(workers);
                           return p.lapack();
                       }});
    }
    run_in_turns(all, s.repeat);
    fmt::print(
        "{}: {} rows in tiles of {}, {} tasks: residual at most {:.2g}, right in every run\n",
        p.name, s.n, s.side, p.tasks, found.worst());
    fmt::print("{} worker{}, policy {}, OpenBLAS's kernels for {}, median of {}\n", workers,
               workers == 1 ? "" : "s", rt.default_pool().policy(), blas::kernels(), s.repeat);
    print_ratios(all);
    for (const variant& each : all) {
        fmt::print("  {}: {:.2f} GFLOP/s", each.name, p.flop / each.middle() / 1e9);
        if (s.compares) {
            fmt::print(", {:.1f} % of {} x LAPACK",
                       100 * all.front().middle() / each.middle() / workers, workers);
        }
        fmt::print("\n");
    }
    print_workers(p.workers);
}

}  // namespace apps::dense
