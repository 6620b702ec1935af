// SPDX-License-Identifier: BSL-1.0
// lu: P A = L U with partial pivoting, a task for each step of each panel of columns. While panels
// are updated the next one is already factorised: its tasks have larger ranks. They read the
// factorised panel where it is, or in a copy that a ring of processes would send: in one buffer, or
// in a renamed one, of which each step has a version of its own.
#include "../common/dense.hpp"

#include "panels.hpp"

#include <quern/counters/counter.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
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
  lu --panel renamed              updates read panels only in renamed copies
  QUERN_RENAMING_BYTES=4M lu      copies of no more than three panels at a time
  lu --n 100 --zero-column 40     singular: says which column
  OPENBLAS_CORETYPE=Haswell lu    chooses OpenBLAS's kernels)";

using apps::dense::columns;

/// The matrix in both layouts.
class problem {
public:
    problem(const apps::dense::sizes& s, std::size_t zero_column)
        : m_n(s.n),
          m_zero_column(zero_column),
          m_columns(s.n, s.n),
          m_pivots(s.n),
          m_panels(static_cast<std::ptrdiff_t>(s.n), static_cast<std::ptrdiff_t>(s.side)) {}

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

    double by_tasks(const quern::runtime& rt, panel_place place, bool has_ranks) {
        const double seconds =
            quern::async(rt, [this, place, has_ranks, &rt] {
                m_panels.numbers.assign([this](auto r, auto c) { return element(r, c); });
                const double factorised = apps::dense::seconds_and_totals(
                    rt, m_workers, [&] { factorise(m_panels, kinds(has_ranks), place); });
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
        expect_same_bits();
        return seconds;
    }

    /// Of the factors and pivots of all runs by tasks.
    std::uint64_t checksum() const { return m_checksum.value_or(0); }
    const apps::dense::residuals& found() const { return m_found; }
    const quern::worker_totals& workers() const { return m_workers; }

private:
    double element(std::size_t r, std::size_t c) const {
        return c + 1 == m_zero_column ? 0 : apps::dense::element(r, c, 0);
    }

    /// The order of the tasks does not change what each of them computes.
    void expect_same_bits() {
        std::uint64_t sum = 0;
        const auto add = [&sum](std::uint64_t bits) {
            constexpr std::uint64_t k_prime = 0x9e3779b97f4a7c15U;
            sum = (std::rotl(sum, 5) ^ bits) * k_prime;
        };
        for (std::size_t i = 0; i < m_n * m_n; ++i) {
            add(std::bit_cast<std::uint64_t>(m_columns.data()[i]));
        }
        for (const int each : m_pivots) {
            add(static_cast<std::uint64_t>(each));
        }
        if (m_checksum.value_or(sum) != sum) {
            throw std::runtime_error("wrong answer: the factors of two runs by tasks differ");
        }
        m_checksum = sum;
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
    std::optional<std::uint64_t> m_checksum;
    apps::dense::residuals m_found;
    quern::worker_totals m_workers;
};

struct choices {
    std::string panel = "all";
    std::string rank = "on";
};

/// The variants that were asked for.
std::vector<apps::variant> variants_of(const choices& chosen, problem& p,
                                       const quern::runtime& rt) {
    struct place {
        const char* option;
        const char* name;
        panel_place where;
    };
    constexpr place k_places[] = {{"place", "tasks", panel_place::in_place},
                                  {"buffer", "tasks, one buffer", panel_place::buffer},
                                  {"renamed", "tasks, renamed buffer", panel_place::renamed}};
    std::vector<apps::variant> all;
    for (const place& each : k_places) {
        if (chosen.panel != "all" && chosen.panel != each.option) {
            continue;
        }
        const std::string name = each.name;
        if (chosen.rank != "off") {
            all.push_back({name, [&p, &rt, each] { return p.by_tasks(rt, each.where, true); }});
        }
        if (chosen.rank != "on") {
            all.push_back({name + ", rank off",
                           [&p, &rt, each] { return p.by_tasks(rt, each.where, false); }});
        }
    }
    return all;
}

void print_renaming(const quern::runtime& rt, double renamings) {
    const auto number = [&rt](const char* counter) {
        return quern::counters::create(counter, rt).value().value;
    };
    fmt::print(
        "  renamed: {:.0f} panels got another version; versions took at most {:.0f} of {} bytes "
        "(renaming-bytes)\n",
        renamings, number("/dependences/renamed-bytes-peak"),
        rt.default_pool().knob("renaming-bytes"));
}

int run(int argc, char** argv) {
    cli::command_line app(
        "LU factorisation with partial pivoting by panels, with tasks ordered by their data.",
        "lu");
    apps::dense::sizes s;
    choices chosen;
    std::size_t zero_column = 0;
    s.add_to(app);
    app.add("--panel", chosen.panel,
            "where updates read a panel: in its place, in a copy in one buffer, in one that is "
            "renamed, or all in turns (place, buffer, renamed, all)")
        .shows_default();
    app.add("--rank", chosen.rank,
            "whether the next panel comes first, or both in turns (on, off, both)")
        .shows_default();
    const cli::option has_zero =
        apps::add_count(app, "--zero-column", zero_column, 1, 100'000, "this column is all zeros");
    if (!s.parse(app, k_examples, argc, argv)) {
        return apps::k_success;
    }
    apps::checked_word("--panel", chosen.panel, {"place", "buffer", "renamed", "all"});
    apps::checked_word("--rank", chosen.rank, {"on", "off", "both"});
    apps::require_at_most(has_zero, "--zero-column", zero_column, "--n", s.n);
    apps::dense::prepare(s, 2);
    const quern::runtime rt;
    quern::counters::counter renamings = quern::counters::create("/dependences/renamings", rt);
    problem p(s, zero_column);
    const double n = static_cast<double>(s.n);
    apps::dense::measure_and_print(rt, s,
                                   {.name = "lu",
                                    .tasks = tasks_for(s.blocks()),
                                    .flop = 2 * n * n * n / 3,
                                    .lapack = [&p] { return p.by_lapack(); },
                                    .by_tasks = variants_of(chosen, p, rt),
                                    .workers = p.workers()},
                                   p.found());
    fmt::print("  factors: the same bits in every run by tasks, checksum {:016x}\n", p.checksum());
    if (chosen.panel == "all" || chosen.panel == "renamed") {
        print_renaming(rt, renamings.value().value);
    }
    return apps::k_success;
}

}  // namespace

}  // namespace lu

int main(int argc, char** argv) {
    return apps::guarded_main("lu", [&] { return lu::run(argc, argv); });
}
