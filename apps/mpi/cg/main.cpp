// SPDX-License-Identifier: BSL-1.0
// cg: conjugate gradients for the 5-point Laplacian of a square, whose rows are divided among the
// ranks. With tasks the inner rows are multiplied while the rows of neighbours arrive.
#include "variants.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace cg {

namespace {

constexpr const char* k_examples = R"(Examples, on Open MPI and on MPICH:
  mpirun -n 2 cg                        512 x 512 points in strips of 32 rows
  mpiexec -n 4 cg --n 2000 --strip 50 --threads 2
  mpirun -n 4 cg --variant tasks --iterations 100
                                        one variant, not more iterations)";

struct options {
    std::size_t n = 512;
    std::size_t strip = 32;
    limits until;
    apps::mpi::variant_options common{{"pure", "fork-join", "tasks"}};

    /// False: only help was requested.
    bool parse(const apps::mpi::place& at, int argc, char** argv) {
        cli::command_line app("Conjugate gradients for a square of points.", "cg");
        apps::add_count(app, "--n", n, 1, 40'000, "points along each side, at least one a rank");
        const cli::option has_strip = apps::add_count(app, "--strip", strip, 1, 40'000,
                                                      "rows that a task works on, at most n");
        apps::add_number(app, "--tolerance", until.tolerance, 1e-14, 1,
                         "of the residual, in parts of the right side");
        apps::add_count(app, "--iterations", until.most, 1, 1'000'000, "not more iterations");
        common.add_to(app);
        if (!common.parse(app, k_examples, argc, argv)) {
            return false;
        }
        apps::require_at_most(has_strip, "--strip", strip, "--n", n);
        strip = std::min(strip, n);
        apps::mpi::require_at_least_ranks("--n", n, at);
        return true;
    }
};

/// What all runs have found.
struct found {
    double worst = 0;  ///< true residual
    std::size_t least = std::numeric_limits<std::size_t>::max();
    std::size_t most = 0;  ///< iterations

    void take(double residual, std::size_t iterations) {
        worst = std::max(worst, residual);
        least = std::min(least, iterations);
        most = std::max(most, iterations);
    }
};

int run(const apps::mpi::place& at, int argc, char** argv) {
    options chosen;
    if (!chosen.parse(at, argc, argv)) {
        return apps::k_success;
    }
    const double points = static_cast<double>(chosen.n) * static_cast<double>(chosen.n);
    apps::mpi::require_memory(6 * points * sizeof(double));
    linear_system s(chosen.n, chosen.strip, at);
    found all;
    const auto measured = [&](auto in_place, auto solve) {
        s.reset();
        std::size_t iterations = 0;
        const double seconds = in_place([&] {
            return apps::mpi::seconds_of_all([&] { iterations = solve(s, chosen.until); });
        });
        const double residual = s.true_residual();
        // The residual that the iterations update drifts from the true one by rounding.
        const bool is_right = residual <= 2 * chosen.until.tolerance;
        if (!is_right && iterations == chosen.until.most) {
            throw apps::mpi::common_failure(fmt::format(
                "not converged: after {} iterations, the most that --iterations allows, "
                "|b - A x| / |b| is {:.3g}, and --tolerance is {:.3g}",
                iterations, residual, chosen.until.tolerance));
        }
        apps::mpi::require_on_all(
            is_right,
            fmt::format("after {} iterations |b - A x| / |b| is {:.3g}", iterations, residual));
        all.take(residual, iterations);
        return seconds;
    };
    std::vector<apps::variant> variants = chosen.common.chosen({
        {"pure", [&] { return measured([](auto f) { return f(); }, by_plain_calls); }},
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
        "cg: {} x {} points in strips of {}, {}{} iterations: |b - A x| / |b| at most "
        "{:.2g}, right in every run\n",
        chosen.n, chosen.n, chosen.strip, all.least,
        all.least == all.most ? "" : fmt::format(" to {}", all.most), all.worst);
    apps::mpi::print_all(variants, chosen.common.repeat, at,
                         points * static_cast<double>(all.most) / 1e6, "million points/s");
    return apps::k_success;
}

}  // namespace

}  // namespace cg

int main(int argc, char** argv) { return apps::mpi::guarded_main("cg", argc, argv, cg::run); }
