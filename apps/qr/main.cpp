// SPDX-License-Identifier: BSL-1.0
// qr: A = Q R by tiles (Buttari, Langou, Kurzak, Dongarra 2009): Householder reflections of one
// tile and of two tiles above each other, a task for each, ordered by the tiles that it reads and
// writes.
#include "../common/dense.hpp"

#include <quern/dependences/domain.hpp>
#include <quern/dependences/tiles.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace qr {

namespace {

constexpr const char* k_examples = R"(Examples:
  qr                                  1024 rows in tiles of 128
  qr --n 4096 --tile 256 --threads 2
  qr --n 4096 --tile 256 --inner 64   larger blocks of reflections within a tile
  qr --n 1000 --tile 300              the last tiles are smaller
  OPENBLAS_CORETYPE=Haswell qr        chooses OpenBLAS's kernels)";

using apps::dense::columns;
using apps::dense::in_blas;

/// A, which becomes R and the vectors of tpqrt below; the vectors of geqrt, which are kept beside
/// it because tpqrt changes R meanwhile; and the triangular factors of all blocks of reflections.
struct factors {
    factors(std::ptrdiff_t n, std::ptrdiff_t side, std::ptrdiff_t inner)
        : r(n, n, side, side),
          v(n, side, side, side),
          t(inner * static_cast<std::ptrdiff_t>(r.grid_rows()), n, inner, side) {}

    std::size_t count() const { return r.grid_rows(); }
    /// Of an inner block no more rows than the tile has columns.
    static blas::matrix inner(quern::matrix_tile<double> t) {
        blas::matrix m = in_blas(t);
        m.rows = std::min(m.rows, m.columns);
        return m;
    }
    /// The reflections of geqrt in the diagonal tile k.
    blas::matrix vectors(std::size_t k) {
        const blas::matrix whole = in_blas(v.tile(k, 0));
        return whole.from(0, 0, whole.rows, std::min(whole.rows, whole.columns));
    }

    quern::tiles<double> r, v, t;
};

void geqrt(factors& f, std::size_t k) {
    const blas::matrix a = in_blas(f.r.tile(k, k));
    blas::geqrt(a, factors::inner(f.t.tile(k, k)));
    const blas::matrix v = f.vectors(k);
    for (int c = 0; c < v.columns; ++c) {
        std::copy_n(&a(0, c), v.rows, &v(0, c));
    }
}
/// Of tile (k, j), by the reflections of geqrt.
void unmqr(factors& f, std::size_t k, std::size_t j) {
    blas::gemqrt('T', f.vectors(k), factors::inner(f.t.tile(k, k)), in_blas(f.r.tile(k, j)));
}
void tsqrt(factors& f, std::size_t k, std::size_t i) {
    blas::tpqrt(in_blas(f.r.tile(k, k)), in_blas(f.r.tile(i, k)), factors::inner(f.t.tile(i, k)));
}
/// Of the tiles (k, j) and (i, j), by the reflections of tsqrt.
void tsmqr(factors& f, std::size_t k, std::size_t i, std::size_t j) {
    blas::tpmqrt('T', in_blas(f.r.tile(i, k)), factors::inner(f.t.tile(i, k)),
                 in_blas(f.r.tile(k, j)), in_blas(f.r.tile(i, j)));
}

/// Earlier steps have the larger ranks, and in each those that the next one needs first.
void factorise(factors& f) {
    using quern::in;
    using quern::inout;
    using quern::out;
    const std::size_t n = f.count();
    quern::domain work;
    for (std::size_t k = 0; k < n; ++k) {
        const auto left = static_cast<std::int16_t>(
            std::min<std::size_t>(n - k, std::numeric_limits<std::int16_t>::max() / 4));
        const auto rank = [left](int within) { return static_cast<std::int16_t>(left + within); };
        work.spawn({.name = "geqrt", .rank = rank(3)}, inout(f.r.tile(k, k)), out(f.t.tile(k, k)),
                   out(f.v.tile(k, 0)), [&f, k] { geqrt(f, k); });
        for (std::size_t j = k + 1; j < n; ++j) {
            work.spawn({.name = "unmqr", .rank = rank(1)}, in(f.v.tile(k, 0)), in(f.t.tile(k, k)),
                       inout(f.r.tile(k, j)), [&f, k, j] { unmqr(f, k, j); });
        }
        for (std::size_t i = k + 1; i < n; ++i) {
            work.spawn({.name = "tsqrt", .rank = rank(3)}, inout(f.r.tile(k, k)),
                       inout(f.r.tile(i, k)), out(f.t.tile(i, k)), [&f, k, i] { tsqrt(f, k, i); });
            for (std::size_t j = k + 1; j < n; ++j) {
                work.spawn({.name = "tsmqr", .rank = rank(j == k + 1 ? 2 : 0)}, in(f.r.tile(i, k)),
                           in(f.t.tile(i, k)), inout(f.r.tile(k, j)), inout(f.r.tile(i, j)),
                           [&f, k, i, j] { tsmqr(f, k, i, j); });
            }
        }
    }
    work.taskwait();
}

std::size_t tasks_for(std::size_t tiles) { return tiles * (tiles + 1) * (2 * tiles + 1) / 6; }

/// x = Q x, or its transposed.
void apply_q(factors& f, char op, columns& x) {
    const std::size_t n = f.count();
    const blas::matrix all = x.all();
    const auto rows = [&](std::size_t i) {
        return all.from(static_cast<int>(f.r.first_row(i)), 0,
                        static_cast<int>(f.r.tile(i, 0).rows()), all.columns);
    };
    const auto step = [&](std::size_t k) {
        const auto one = [&] {
            blas::gemqrt(op, f.vectors(k), factors::inner(f.t.tile(k, k)), rows(k));
        };
        const auto two = [&](std::size_t i) {
            blas::tpmqrt(op, in_blas(f.r.tile(i, k)), factors::inner(f.t.tile(i, k)), rows(k),
                         rows(i));
        };
        if (op == 'T') {
            one();
            for (std::size_t i = k + 1; i < n; ++i) {
                two(i);
            }
        } else {
            for (std::size_t i = n; --i > k;) {
                two(i);
            }
            one();
        }
    };
    for (std::size_t k = 0; k < n; ++k) {
        step(op == 'T' ? k : n - 1 - k);
    }
}

/// The matrix in both layouts.
class problem {
public:
    problem(const apps::dense::sizes& s, std::size_t inner)
        : m_n(s.n),
          m_columns(s.n, s.n),
          m_factors(static_cast<std::ptrdiff_t>(s.n), static_cast<std::ptrdiff_t>(s.side),
                    static_cast<std::ptrdiff_t>(inner)) {}

    double by_lapack() {
        for (std::size_t c = 0; c < m_n; ++c) {
            for (std::size_t r = 0; r < m_n; ++r) {
                m_columns(r, c) = element(r, c);
            }
        }
        const double seconds = apps::seconds_of([this] { blas::geqrf(m_columns.all(), m_tau); });
        check([this](char op, columns& x) { blas::ormqr(op, m_columns.all(), m_tau, x.all()); });
        return seconds;
    }

    double by_tasks(const quern::runtime& rt) {
        const double seconds = quern::async(rt, [this, &rt] {
                                   m_factors.r.assign(element);
                                   m_factors.t.touch();
                                   m_factors.v.touch();
                                   const double factorised = apps::dense::seconds_and_totals(
                                       rt, m_workers, [this] { factorise(m_factors); });
                                   m_factors.r.copy_to(m_columns.data(), m_n);
                                   return factorised;
                               }).get();
        check([this](char op, columns& x) { apply_q(m_factors, op, x); });
        return seconds;
    }

    const apps::dense::residuals& found() const { return m_found; }
    const quern::worker_totals& workers() const { return m_workers; }

private:
    static double element(std::size_t r, std::size_t c) { return apps::dense::element(r, c, 0); }

    /// |Q R x - A x| and |Q' Q x - x|.
    template <class Q>
    void check(const Q& multiply) {
        const columns x = apps::dense::probe(m_n);
        columns y = x;
        blas::trmm('U', 'N', 'N', m_columns.all(), y.all());
        multiply('N', y);
        const double norm = apps::dense::subtract_product(element, x, y);
        m_found.take(apps::dense::scaled(y, norm, x));

        columns z = x;
        multiply('N', z);
        multiply('T', z);
        apps::dense::subtract_product(
            [](std::size_t r, std::size_t c) { return r == c ? 1.0 : 0.0; }, x, z);
        m_found.take(apps::dense::scaled(z, 1, x));
    }

    std::size_t m_n;
    columns m_columns;
    std::vector<double> m_tau;
    factors m_factors;
    apps::dense::residuals m_found;
    quern::worker_totals m_workers;
};

int run(int argc, char** argv) {
    cli::command_line app("QR factorisation by tiles, with tasks ordered by their data.", "qr");
    apps::dense::sizes s;
    std::size_t inner = 32;
    s.add_to(app);
    const cli::option has_inner =
        apps::add_count(app, "--inner", inner, 1, 100'000,
                        "columns of a block of reflections within a tile, at most --tile");
    if (!s.parse(app, k_examples, argc, argv)) {
        return apps::k_success;
    }
    apps::require_at_most(has_inner, "--inner", inner, "--tile", s.side);
    inner = std::min(inner, s.side);
    apps::dense::prepare(s, 2);
    const quern::runtime rt;
    problem p(s, inner);
    const double n = static_cast<double>(s.n);
    apps::dense::measure_and_print(rt, s,
                                   {.name = "qr",
                                    .tasks = tasks_for(s.blocks()),
                                    .flop = 4 * n * n * n / 3,
                                    .lapack = [&p] { return p.by_lapack(); },
                                    .by_tasks = {{"tasks", [&] { return p.by_tasks(rt); }}},
                                    .workers = p.workers()},
                                   p.found());
    return apps::k_success;
}

}  // namespace

}  // namespace qr

int main(int argc, char** argv) {
    return apps::guarded_main("qr", [&] { return qr::run(argc, argv); });
}
