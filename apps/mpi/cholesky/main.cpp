// SPDX-License-Identifier: BSL-1.0
// cholesky: A = L L', by tiles that are dealt out to a grid of ranks in both directions.
#include "variants.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace cholesky {

namespace {

constexpr const char* k_examples = R"(Examples, on Open MPI and on MPICH:
  mpirun -n 2 cholesky                  1024 rows in tiles of 128, on a grid of 1x2 ranks
  mpiexec -n 4 cholesky --n 4000 --tile 200 --grid 4x1 --threads 2
  mpirun -n 4 cholesky --variant tasks  one variant, on 2x2 ranks
  OPENBLAS_CORETYPE=Haswell mpirun -n 2 cholesky
                                        chooses OpenBLAS's kernels)";

struct options {
    std::size_t n = 1024;
    std::size_t side = 128;
    std::string grid;
    apps::mpi::variant_options common{{"pure", "tasks"}};

    /// False: only help was requested.
    bool parse(int argc, char** argv) {
        cli::command_line app("Cholesky factorisation on a grid of ranks.", "cholesky");
        apps::add_count(app, "--n", n, 1, 40'000, "rows and columns");
        const cli::option has_side = apps::add_count(app, "--tile", side, 1, 40'000,
                                                     "rows and columns of a tile, at most n");
        app.add("--grid", grid,
                "rows and columns of ranks, as 2x2; without it, as square as possible");
        common.add_to(app);
        if (!common.parse(app, k_examples, argc, argv)) {
            return false;
        }
        apps::require_at_most(has_side, "--tile", side, "--n", n);
        side = std::min(side, n);
        constexpr std::size_t k_most_tiles = 10'000;  // their numbers are tags
        if (n / side > k_most_tiles) {
            throw apps::usage_error(fmt::format(
                "--tile is '{}'; accepted: at least {}, for {} rows", side, n / k_most_tiles, n));
        }
        return true;
    }
};

int run(const apps::mpi::place& at, int argc, char** argv) {
    options chosen;
    if (!chosen.parse(argc, argv)) {
        return apps::k_success;
    }
    const rank_grid grid = chosen.grid.empty() ? rank_grid(at) : rank_grid(chosen.grid, at);
    const double n = static_cast<double>(chosen.n);
    apps::mpi::require_memory(n * n * sizeof(double));
    blas::use_calling_thread();
    if (at.is_first()) {
        apps::dense::warn_of_old_kernels();
    }
    matrix a(chosen.n, chosen.side, grid);
    double worst = 0;
    const auto measured = [&](auto factorise) {
        a.reset();
        const double seconds = factorise();
        const double residual = a.residual();
        constexpr double k_most = 30;  // as LAPACK's tests
        apps::mpi::require_on_all(residual <= k_most,
                                  fmt::format("the residual is {:.3g}", residual));
        worst = std::max(worst, residual);
        return seconds;
    };
    std::vector<apps::variant> variants = chosen.common.chosen({
        {"pure",
         [&] {
             return measured([&] {
                 plain_calls calls(a);
                 return apps::mpi::seconds_of_all([&] { calls.run(); });
             });
         }},
        {"tasks",
         [&] {
             return measured([&] {
                 return apps::mpi::in_task([&] {
                     task_maker tasks(a);
                     return apps::mpi::seconds_of_all([&] { tasks.run(); });
                 });
             });
         }},
    });
    apps::mpi::run_in_turns(variants, chosen.common.repeat);
    fmt::print(
        "cholesky: {} rows in tiles of {}, on {} ranks: residual at most {:.2g}, right in "
        "every run\n",
        chosen.n, chosen.side, grid.name(), worst);
    apps::mpi::print_all(variants, chosen.common.repeat, at, n * n * n / 3e9, "GFLOP/s");
    return apps::k_success;
}

}  // namespace

}  // namespace cholesky

int main(int argc, char** argv) {
    return apps::mpi::guarded_main("cholesky", argc, argv, cholesky::run);
}
