// SPDX-License-Identifier: BSL-1.0
// cholesky: A = L L', a task for each operation on tiles, ordered by the tiles that it reads and
// writes: figure 2.5 of the thesis on OmpSs, and the usual example of data-dependence tasks.
#include "../common/dense.hpp"

#include <quern/dependences/domain.hpp>
#include <quern/dependences/tiles.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

namespace cholesky {

namespace {

constexpr const char* k_examples = R"(Examples:
  cholesky                              1024 rows in tiles of 128
  cholesky --n 4096 --tile 256 --threads 2
  cholesky --n 1000 --tile 300          the last tiles are smaller
  cholesky --n 100 --diagonal 0         not positive definite: says so
  OPENBLAS_CORETYPE=Haswell cholesky    chooses OpenBLAS's kernels)";

using apps::dense::columns;
using apps::dense::in_blas;

/// The leading minor of that order is not positive, so there is no factor.
struct not_positive_definite : std::runtime_error {
    explicit not_positive_definite(std::size_t order)
        : std::runtime_error("the matrix is not positive definite: its leading minor of order " +
                             std::to_string(order) + " is not positive") {}
};

/// a = its factor. `before`: rows of the matrix above the tile.
void potrf(const blas::matrix& a, std::size_t before) {
    if (const int minor = blas::potrf(a); minor != 0) {
        throw not_positive_definite(before + static_cast<std::size_t>(minor));
    }
}

/// inverse = that of the factor l. The tiles below are multiplied with it, which is up to three
/// times as fast as solving with the factor.
void invert(const blas::matrix& l, const blas::matrix& inverse) {
    std::copy_n(l.at, static_cast<std::size_t>(l.rows) * static_cast<std::size_t>(l.columns),
                inverse.at);
    blas::invert_lower(inverse);
}

/// The symmetric matrix, of which the lower triangle is stored.
double element(std::size_t r, std::size_t c, double diagonal) {
    return apps::dense::element(std::max(r, c), std::min(r, c), diagonal);
}

/// Those on the way to the next diagonal tile have the larger ranks. `inverses`: a tile for each
/// diagonal tile.
void factorise(quern::tiles<double>& a, quern::tiles<double>& inverses) {
    using quern::in;
    using quern::inout;
    using quern::out;
    const std::size_t n = a.grid_rows();
    quern::domain work;
    for (std::size_t k = 0; k < n; ++k) {
        const auto left = static_cast<std::int16_t>(
            std::min<std::size_t>(n - k, std::numeric_limits<std::int16_t>::max() / 4));
        const auto rank = [left](int within) { return static_cast<std::int16_t>(left + within); };
        const auto kk = a.tile(k, k);
        // The last one is not needed: an access to no element.
        const auto inverse = k + 1 < n ? inverses.tile(k, 0) : quern::matrix_tile<double>();
        work.spawn({.name = "potrf", .rank = rank(3)}, inout(kk), out(inverse),
                   [kk, inverse, before = a.first_row(k)] {
                       potrf(in_blas(kk), before);
                       if (inverse.size() != 0) {
                           invert(in_blas(kk), in_blas(inverse));
                       }
                   });
        for (std::size_t i = k + 1; i < n; ++i) {
            const auto ik = a.tile(i, k);
            work.spawn({.name = "trsm", .rank = rank(2)}, in(inverse), inout(ik),
                       [inverse, ik] { blas::trmm_right(in_blas(inverse), in_blas(ik)); });
        }
        for (std::size_t i = k + 1; i < n; ++i) {
            const auto ik = a.tile(i, k);
            for (std::size_t j = k + 1; j < i; ++j) {
                const auto jk = a.tile(j, k);
                const auto ij = a.tile(i, j);
                work.spawn({.name = "gemm", .rank = rank(0)}, in(ik), in(jk), inout(ij),
                           [ik, jk, ij] {
                               blas::gemm('N', 'T', -1, in_blas(ik), in_blas(jk), 1, in_blas(ij));
                           });
            }
            const auto ii = a.tile(i, i);
            work.spawn({.name = "syrk", .rank = rank(1)}, in(ik), inout(ii),
                       [ik, ii] { blas::syrk(in_blas(ik), in_blas(ii)); });
        }
    }
    work.taskwait();
}

std::size_t tasks_for(std::size_t tiles) { return tiles * (tiles + 1) * (tiles + 2) / 6; }

/// The matrix in both layouts.
class problem {
public:
    problem(const apps::dense::sizes& s, double diagonal)
        : m_n(s.n),
          m_diagonal(diagonal),
          m_columns(s.n, s.n),
          m_tiles(static_cast<std::ptrdiff_t>(s.n), static_cast<std::ptrdiff_t>(s.n),
                  static_cast<std::ptrdiff_t>(s.tile), static_cast<std::ptrdiff_t>(s.tile)),
          m_inverses(static_cast<std::ptrdiff_t>(s.n), static_cast<std::ptrdiff_t>(s.tile),
                     static_cast<std::ptrdiff_t>(s.tile), static_cast<std::ptrdiff_t>(s.tile)) {}

    double by_lapack() {
        for (std::size_t c = 0; c < m_n; ++c) {
            for (std::size_t r = c; r < m_n; ++r) {
                m_columns(r, c) = element(r, c, m_diagonal);
            }
        }
        const double seconds = apps::seconds_of([this] { potrf(m_columns.all(), 0); });
        check();
        return seconds;
    }

    double by_tasks(const quern::runtime& rt) {
        const double seconds = quern::async(rt, [this, &rt] {
                                   in_lower_tiles([this](std::size_t r, std::size_t c, double& x) {
                                       x = element(r, c, m_diagonal);
                                   });
                                   const double factorised = apps::dense::seconds_and_totals(
                                       rt, m_workers, [this] { factorise(m_tiles, m_inverses); });
                                   in_lower_tiles([this](std::size_t r, std::size_t c, double& x) {
                                       m_columns(r, c) = x;
                                   });
                                   return factorised;
                               }).get();
        check();
        return seconds;
    }

    const apps::dense::residuals& found() const { return m_found; }
    const quern::worker_totals& workers() const { return m_workers; }

private:
    /// f(row, column, element) for those of the tiles on and below the diagonal; the others are
    /// never touched, and so take no memory.
    template <class F>
    void in_lower_tiles(const F& f) {
        m_tiles.for_each_tile(
            [&](std::size_t i, std::size_t j) {
                const auto t = m_tiles.tile(i, j);
                for (std::size_t c = 0; j <= i && c < t.columns(); ++c) {
                    for (std::size_t r = 0; r < t.rows(); ++r) {
                        f(m_tiles.first_row(i) + r, m_tiles.first_column(j) + c, t(r, c));
                    }
                }
            },
            m_tiles.round_robin());
    }

    /// |L L' x - A x|
    void check() {
        const columns x = apps::dense::probe(m_n);
        columns y = x;
        blas::trmm('L', 'T', 'N', m_columns.all(), y.all());
        blas::trmm('L', 'N', 'N', m_columns.all(), y.all());
        const double norm = apps::dense::subtract_product(
            [this](std::size_t r, std::size_t c) { return element(r, c, m_diagonal); }, x, y);
        m_found.take(apps::dense::scaled(y, norm, x));
    }

    std::size_t m_n;
    double m_diagonal;
    columns m_columns;
    quern::tiles<double> m_tiles;
    quern::tiles<double> m_inverses;
    apps::dense::residuals m_found;
    quern::worker_totals m_workers;
};

int run(int argc, char** argv) {
    cli::command_line app("Cholesky factorisation by tiles, with tasks ordered by their data.",
                          "cholesky");
    apps::dense::sizes s;
    double diagonal = 0;
    s.add_to(app);
    const cli::option has_diagonal = apps::add_number(app, "--diagonal", diagonal, -1e9, 1e9,
                                                      "added to the diagonal; without it, n");
    apps::add_runtime_options(app);
    app.footer(k_examples);
    if (!apps::parse(app, argc, argv)) {
        return apps::k_success;
    }
    s.check();
    apps::dense::require_memory(s.n, 2);
    blas::use_calling_thread();
    apps::dense::warn_of_old_kernels();
    diagonal = has_diagonal.given() ? diagonal : static_cast<double>(s.n);
    const quern::runtime rt;
    problem p(s, diagonal);
    const double n = static_cast<double>(s.n);
    apps::dense::measure_and_print(rt, s,
                                   {.name = "cholesky",
                                    .tasks = tasks_for(s.tiles()),
                                    .flop = n * n * n / 3,
                                    .lapack = [&p] { return p.by_lapack(); },
                                    .by_tasks = {{"tasks", [&] { return p.by_tasks(rt); }}},
                                    .workers = p.workers()},
                                   p.found());
    return apps::k_success;
}

}  // namespace

}  // namespace cholesky

int main(int argc, char** argv) {
    return apps::guarded_main("cholesky", [&] { return cholesky::run(argc, argv); });
}
