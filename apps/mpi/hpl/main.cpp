// SPDX-License-Identifier: BSL-1.0
// hpl: solves A x = b as High Performance LINPACK does, by LU factorisation with partial pivoting
// of panels that are dealt out to the ranks in turns. With tasks, look-ahead follows from the order
// of the data.
#include "variants.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace hpl {

namespace {

constexpr const char* k_examples = R"(Examples, on Open MPI and on MPICH:
  mpirun -n 2 hpl                       1024 equations in blocks of 64, on 1x2 ranks
  mpiexec -n 4 hpl --n 4000 --tile 128 --grid 2x2 --threads 2
  mpirun -n 4 hpl --variant tasks       one variant
  OPENBLAS_CORETYPE=Haswell mpirun -n 2 hpl
                                        chooses OpenBLAS's kernels)";

struct options {
    std::size_t n = 1024;
    std::size_t width = 64;
    std::string grid;
    apps::mpi::variant_options common{{"pure", "pure-look-ahead", "fork-join", "tasks"}};

    /// False: only help was requested.
    bool parse(int argc, char** argv) {
        cli::command_line app("Solves a dense system of equations on several ranks.", "hpl");
        apps::add_count(app, "--n", n, 1, 40'000, "equations");
        const cli::option has_width = apps::add_count(app, "--tile", width, 1, 40'000,
                                                      "rows and columns of a block, at most n");
        app.add("--grid", grid, "rows and columns of ranks, as 2x2; without it, one row");
        common.add_to(app);
        if (!common.parse(app, k_examples, argc, argv)) {
            return false;
        }
        apps::require_at_most(has_width, "--tile", width, "--n", n);
        width = std::min(width, n);
        constexpr std::size_t k_most_blocks = 10'000;  // their numbers are tags
        if (n / width > k_most_blocks) {
            throw apps::usage_error(fmt::format(
                "--tile is '{}'; accepted: at least {}, for {} rows", width, n / k_most_blocks, n));
        }
        return true;
    }
};

int run(const apps::mpi::place& at, int argc, char** argv) {
    options chosen;
    if (!chosen.parse(argc, argv)) {
        return apps::k_success;
    }
    const rank_grid grid(chosen.grid.empty() ? fmt::format("1x{}", at.ranks) : chosen.grid, at);
    const std::size_t blocks = (chosen.n + chosen.width - 1) / chosen.width;
    if (static_cast<std::size_t>(grid.rows()) > blocks) {
        throw apps::usage_error(
            fmt::format("--grid is '{}'; accepted for {} row{} of blocks: not more rows of ranks",
                        grid.name(), blocks, blocks == 1 ? "" : "s"));
    }
    const double n = static_cast<double>(chosen.n);
    apps::mpi::require_memory(n * n * sizeof(double));
    blas::use_calling_thread();
    if (at.is_first()) {
        apps::dense::warn_of_old_kernels();
    }
    matrix a(chosen.n, chosen.width, grid);
    steps s(a);
    double worst = 0;
    const auto measured = [&](auto in_place, auto factorise) {
        a.reset();
        std::vector<double> x;
        const double seconds = in_place([&] {
            return apps::mpi::seconds_of_all([&] {
                factorise(s);
                x = s.solve();
            });
        });
        const double residual = a.residual(x);
        constexpr double k_most = 16;  // HPL's
        apps::mpi::require_on_all(residual < k_most,
                                  fmt::format("the residual is {:.3g}", residual));
        worst = std::max(worst, residual);
        return seconds;
    };
    const auto in_place = [](auto f) { return f(); };
    std::vector<apps::variant> variants = chosen.common.chosen({
        {"pure", [&] { return measured(in_place, by_plain_calls); }},
        {"pure-look-ahead", [&] { return measured(in_place, by_plain_look_ahead); }},
        {"fork-join",
         [&] {
             return measured(
                 [](auto f) { return apps::mpi::with_runtime([&](auto&) { return f(); }); },
                 by_fork_join);
         }},
        {"tasks", [&] { return measured([](auto f) { return apps::mpi::in_task(f); }, by_tasks); }},
    });
    apps::mpi::run_in_turns(variants, chosen.common.repeat);
    fmt::print(
        "hpl: {} equations in blocks of {}, on {} ranks: |A x - b| / (eps (|A| |x| + |b|) n) at "
        "most "
        "{:.2g} of 16, right in every run\n",
        chosen.n, chosen.width, grid.name(), worst);
    apps::mpi::print_all(variants, chosen.common.repeat, at,
                         (2.0 / 3 * n * n * n + 1.5 * n * n) / 1e9, "GFLOP/s");
    return apps::k_success;
}

}  // namespace

}  // namespace hpl

int main(int argc, char** argv) { return apps::mpi::guarded_main("hpl", argc, argv, hpl::run); }
