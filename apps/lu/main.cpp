// SPDX-License-Identifier: BSL-1.0
// lu: P A = L U with partial pivoting, a task for each step of each panel of columns. While panels
// are updated the next one is already factorised: its tasks have larger ranks.
#include "../common/dense.hpp"

#include <quern/dependences/domain.hpp>
#include <quern/dependences/tiles.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace lu {

namespace {

constexpr const char* k_examples = R"(Examples:
  lu                              1024 rows, panels of 128 columns
  lu --n 4096 --tile 64 --threads 2
  lu --n 1000 --tile 300          the last panel is smaller
  lu --rank both                  with and without ranks, in turns
  lu --n 100 --zero-column 40     singular: says which column
  OPENBLAS_CORETYPE=Haswell lu    chooses OpenBLAS's kernels)";

using apps::dense::columns;
using apps::dense::in_blas;

struct singular_matrix : std::runtime_error {
    explicit singular_matrix(std::size_t column)
        : std::runtime_error("the matrix is singular: column " + std::to_string(column) +
                             " has no pivot") {}
};

/// a = its factors. `before`: columns of the matrix before it.
void factorise(const blas::matrix& a, int* pivots, std::size_t before) {
    if (const int column = blas::getrf(a, pivots); column != 0) {
        throw singular_matrix(before + static_cast<std::size_t>(column));
    }
}

/// Panels of columns, and the row that each step exchanges with its own: counted from 1, and from
/// the first row of the panel's part of the diagonal.
struct panels {
    panels(std::ptrdiff_t n, std::ptrdiff_t width)
        : numbers(n, n, n, width), pivots(static_cast<std::size_t>(n)) {}

    std::size_t count() const { return numbers.grid_columns(); }
    /// Of the panel j, the rows from those of the diagonal in panel k.
    blas::matrix below(std::size_t k, std::size_t j) {
        const blas::matrix whole = in_blas(numbers.tile(0, j));
        const int above = static_cast<int>(numbers.first_column(k));
        return whole.from(above, 0, whole.rows - above, whole.columns);
    }
    std::span<int> pivots_of(std::size_t k) {
        return std::span(pivots).subspan(numbers.first_column(k), numbers.tile(0, k).columns());
    }

    quern::tiles<double> numbers;
    std::vector<int> pivots;
};

/// Panel j, when panel k has been factorised: exchanges its rows, computes its part of U, and
/// subtracts the product from what is below.
void update(const blas::matrix& k, std::span<const int> pivots, const blas::matrix& j) {
    blas::swap_rows(j, pivots.data(), k.columns);
    const blas::matrix upper = j.from(0, 0, k.columns, j.columns);
    blas::trsm_left(k, upper);
    const int left = k.rows - k.columns;
    if (left > 0) {
        blas::gemm('N', 'N', -1, k.from(k.columns, 0, left, k.columns), upper, 1,
                   j.from(k.columns, 0, left, j.columns));
    }
}

/// The names and ranks of the tasks.
struct kinds {
    quern::task_attributes fact{.name = "fact"};
    quern::task_attributes urgent_update{.name = "urgent_update"};
    quern::task_attributes update{.name = "update"};
    quern::task_attributes swap{.name = "swap"};
};
kinds with_ranks(bool has_ranks) {
    kinds k;
    k.fact.rank = has_ranks ? 2 : 0;
    k.urgent_update.rank = has_ranks ? 1 : 0;
    return k;
}

void factorise(panels& a, const kinds& kind) {
    using quern::in;
    using quern::inout;
    using quern::out;
    quern::domain work;
    for (std::size_t k = 0; k < a.count(); ++k) {
        work.spawn(kind.fact, inout(a.numbers.tile(0, k)), out(a.pivots_of(k)), [&a, k] {
            factorise(a.below(k, k), a.pivots_of(k).data(), a.numbers.first_column(k));
        });
        for (std::size_t j = k + 1; j < a.count(); ++j) {
            work.spawn(j == k + 1 ? kind.urgent_update : kind.update, in(a.numbers.tile(0, k)),
                       in(a.pivots_of(k)), inout(a.numbers.tile(0, j)),
                       [&a, k, j] { update(a.below(k, k), a.pivots_of(k), a.below(k, j)); });
        }
    }
    // The exchanges of later steps, in the panels to their left, which are L.
    for (std::size_t j = 0; j + 1 < a.count(); ++j) {
        const std::span<const int> later =
            std::span(a.pivots).subspan(a.numbers.first_column(j + 1));
        work.spawn(kind.swap, in(later), inout(a.numbers.tile(0, j)), [&a, j] {
            for (std::size_t k = j + 1; k < a.count(); ++k) {
                const std::span<const int> pivots = a.pivots_of(k);
                blas::swap_rows(a.below(k, j), pivots.data(), static_cast<int>(pivots.size()));
            }
        });
    }
    work.taskwait();
}

std::size_t tasks_for(std::size_t panels) { return panels * (panels + 1) / 2 + panels - 1; }

/// The matrix in both layouts.
class problem {
public:
    problem(const apps::dense::sizes& s, std::size_t zero_column)
        : m_n(s.n),
          m_zero_column(zero_column),
          m_columns(s.n, s.n),
          m_pivots(s.n),
          m_panels(static_cast<std::ptrdiff_t>(s.n), static_cast<std::ptrdiff_t>(s.tile)) {}

    double by_lapack() {
        for (std::size_t c = 0; c < m_n; ++c) {
            for (std::size_t r = 0; r < m_n; ++r) {
                m_columns(r, c) = element(r, c);
            }
        }
        const double seconds =
            apps::seconds_of([this] { factorise(m_columns.all(), m_pivots.data(), 0); });
        check();
        return seconds;
    }

    double by_tasks(const quern::runtime& rt, bool has_ranks) {
        const double seconds =
            quern::async(rt, [this, has_ranks, &rt] {
                m_panels.numbers.assign([this](auto r, auto c) { return element(r, c); });
                const double factorised = apps::dense::seconds_and_totals(
                    rt, m_workers,
                    [this, has_ranks] { factorise(m_panels, with_ranks(has_ranks)); });
                m_panels.numbers.copy_to(m_columns.data(), m_n);
                return factorised;
            }).get();
        for (std::size_t k = 0; k < m_panels.count(); ++k) {
            const std::size_t first = m_panels.numbers.first_column(k);
            const std::span<const int> pivots = m_panels.pivots_of(k);
            for (std::size_t i = 0; i < pivots.size(); ++i) {
                m_pivots[first + i] = pivots[i] + static_cast<int>(first);
            }
        }
        check();
        return seconds;
    }

    const apps::dense::residuals& found() const { return m_found; }
    const quern::worker_totals& workers() const { return m_workers; }

private:
    double element(std::size_t r, std::size_t c) const {
        return c + 1 == m_zero_column ? 0 : apps::dense::element(r, c, 0);
    }

    /// |P' L U x - A x|, and |A y - x| for the solution y of A y = x.
    void check() {
        const auto a = [this](std::size_t r, std::size_t c) { return element(r, c); };
        const blas::matrix factors = m_columns.all();
        const int n = static_cast<int>(m_n);
        const columns x = apps::dense::probe(m_n);
        columns y = x;
        blas::trmm('U', 'N', 'N', factors, y.all());
        blas::trmm('L', 'N', 'U', factors, y.all());
        blas::swap_rows_back(y.all(), m_pivots.data(), n);
        const double norm = apps::dense::subtract_product(a, x, y);
        m_found.take(apps::dense::scaled(y, norm, x));

        columns solution = x;
        blas::swap_rows(solution.all(), m_pivots.data(), n);
        blas::trsm_left(factors, solution.all());
        blas::trsm_upper(factors, solution.all());
        columns difference = x;
        apps::dense::subtract_product(a, solution, difference);
        m_found.take(apps::dense::scaled(difference, norm, solution));
    }

    std::size_t m_n;
    std::size_t m_zero_column;
    columns m_columns;
    std::vector<int> m_pivots;
    panels m_panels;
    apps::dense::residuals m_found;
    quern::worker_totals m_workers;
};

int run(int argc, char** argv) {
    cli::command_line app(
        "LU factorisation with partial pivoting by panels, with tasks ordered by their data.",
        "lu");
    apps::dense::sizes s;
    std::string rank = "on";
    std::size_t zero_column = 0;
    s.add_to(app);
    app.add("--rank", rank, "whether the next panel comes first, or both in turns (on, off, both)");
    const cli::option has_zero =
        apps::add_count(app, "--zero-column", zero_column, 1, 100'000, "this column is all zeros");
    apps::add_runtime_options(app);
    app.footer(k_examples);
    if (!apps::parse(app, argc, argv)) {
        return apps::k_success;
    }
    s.check();
    apps::checked_word("--rank", rank, {"on", "off", "both"});
    apps::require_at_most(has_zero, "--zero-column", zero_column, "--n", s.n);
    apps::dense::require_memory(s.n, 2);
    blas::use_calling_thread();
    apps::dense::warn_of_old_kernels();
    const quern::runtime rt;
    problem p(s, zero_column);
    const double n = static_cast<double>(s.n);
    apps::dense::measured all{.name = "lu",
                              .tasks = tasks_for(s.tiles()),
                              .flop = 2 * n * n * n / 3,
                              .lapack = [&p] { return p.by_lapack(); },
                              .by_tasks = {},
                              .workers = p.workers()};
    if (rank != "off") {
        all.by_tasks.push_back({"tasks", [&] { return p.by_tasks(rt, true); }});
    }
    if (rank != "on") {
        all.by_tasks.push_back({"tasks, rank off", [&] { return p.by_tasks(rt, false); }});
    }
    apps::dense::measure_and_print(rt, s, all, p.found());
    return apps::k_success;
}

}  // namespace

}  // namespace lu

int main(int argc, char** argv) {
    return apps::guarded_main("lu", [&] { return lu::run(argc, argv); });
}
