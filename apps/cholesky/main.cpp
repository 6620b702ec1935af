// SPDX-License-Identifier: BSL-1.0
// cholesky: A = L L', a task for each operation on tiles, ordered by the tiles that it reads and
// writes: figure 2.5 of the thesis on OmpSs, and the usual example of data-dependence tasks.
#include "../common/dense.hpp"

#include <quern/dependences/domain.hpp>
#include <quern/dependences/tiles.hpp>
#include <quern/dependences/tiles_view.hpp>

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
  cholesky --layout both                in tiles, and by columns in place, in turns
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
    for (int c = 0; c < l.columns; ++c) {
        std::copy_n(&l(0, c), l.rows, &inverse(0, c));
    }
    blas::invert_lower(inverse);
}

/// The symmetric matrix, of which the lower triangle is stored.
double element(std::size_t r, std::size_t c, double diagonal) {
    return apps::dense::element(std::max(r, c), std::min(r, c), diagonal);
}

/// Those on the way to the next diagonal tile have the larger ranks. `a`: tiles or a tiles_view.
/// `inverses`: a tile for each diagonal tile.
template <class Matrix>
void factorise(Matrix& a, quern::tiles<double>& inverses) {
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

/// f(row, column, element) for those of the tiles on and below the diagonal; the others are never
/// touched, and so take no memory. By tasks.
template <class Matrix, class F>
void in_lower_tiles(Matrix& a, const F& f) {
    a.for_each_tile(
        [&](std::size_t i, std::size_t j) {
            const auto t = a.tile(i, j);
            for (std::size_t c = 0; j <= i && c < t.columns(); ++c) {
                for (std::size_t r = 0; r < t.rows(); ++r) {
                    f(a.first_row(i) + r, a.first_column(j) + c, t(r, c));
                }
            }
        },
        a.round_robin());
}

/// The matrix in both layouts.
class problem {
public:
    problem(const apps::dense::sizes& s, double diagonal)
        : m_n(s.n),
          m_diagonal(diagonal),
          m_columns(s.n, s.n),
          m_in_place(m_columns.data(), signed_of(s.n), signed_of(s.n), signed_of(s.n),
                     signed_of(s.side), signed_of(s.side)),
          m_tiles(signed_of(s.n), signed_of(s.n), signed_of(s.side), signed_of(s.side)),
          m_inverses(signed_of(s.n), signed_of(s.side), signed_of(s.side), signed_of(s.side)) {}

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
        const double seconds =
            quern::async(rt, [this, &rt] {
                const double factorised = filled_and_factorised(rt, m_tiles);
                in_lower_tiles(m_tiles, [this](std::size_t r, std::size_t c, double& x) {
                    m_columns(r, c) = x;
                });
                return factorised;
            }).get();
        check();
        return seconds;
    }

    /// In the place where LAPACK does it.
    double by_tasks_in_columns(const quern::runtime& rt) {
        const double seconds =
            quern::async(rt, [this, &rt] { return filled_and_factorised(rt, m_in_place); }).get();
        check();
        return seconds;
    }

    const apps::dense::residuals& found() const { return m_found; }
    const quern::worker_totals& workers() const { return m_workers; }

private:
    static std::ptrdiff_t signed_of(std::size_t n) { return static_cast<std::ptrdiff_t>(n); }

    template <class Matrix>
    double filled_and_factorised(const quern::runtime& rt, Matrix& a) {
        in_lower_tiles(
            a, [this](std::size_t r, std::size_t c, double& x) { x = element(r, c, m_diagonal); });
        return apps::dense::seconds_and_totals(rt, m_workers,
                                               [this, &a] { factorise(a, m_inverses); });
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
    quern::tiles_view<double> m_in_place;  ///< of m_columns
    quern::tiles<double> m_tiles;
    quern::tiles<double> m_inverses;
    apps::dense::residuals m_found;
    quern::worker_totals m_workers;
};

int run(int argc, char** argv) {
    cli::command_line app("Cholesky factorisation by tiles, with tasks ordered by their data.",
                          "cholesky");
    apps::dense::sizes s;
    std::string layout = "tiles";
    double diagonal = 0;
    s.add_to(app);
    app.add("--layout", layout,
            "how the matrix lies in memory, or both in turns (tiles, columns, both)")
        .shows_default();
    const cli::option has_diagonal = apps::add_number(app, "--diagonal", diagonal, -1e9, 1e9,
                                                      "added to the diagonal; without it, n");
    if (!s.parse(app, k_examples, argc, argv)) {
        return apps::k_success;
    }
    apps::checked_word("--layout", layout, {"tiles", "columns", "both"});
    apps::dense::prepare(s, layout == "columns" ? 1 : 2);
    diagonal = has_diagonal.given() ? diagonal : static_cast<double>(s.n);
    const quern::runtime rt;
    problem p(s, diagonal);
    const double n = static_cast<double>(s.n);
    apps::dense::measured all{.name = "cholesky",
                              .tasks = tasks_for(s.blocks()),
                              .flop = n * n * n / 3,
                              .lapack = [&p] { return p.by_lapack(); },
                              .by_tasks = {},
                              .workers = p.workers()};
    if (layout != "columns") {
        all.by_tasks.push_back({"tasks", [&] { return p.by_tasks(rt); }});
    }
    if (layout != "tiles") {
        all.by_tasks.push_back({"tasks, by columns", [&] { return p.by_tasks_in_columns(rt); }});
    }
    apps::dense::measure_and_print(rt, s, all, p.found());
    return apps::k_success;
}

}  // namespace

}  // namespace cholesky

int main(int argc, char** argv) {
    return apps::guarded_main("cholesky", [&] { return cholesky::run(argc, argv); });
}
