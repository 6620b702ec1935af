// SPDX-License-Identifier: BSL-1.0
// ring: C = A B. Each rank has rows of A and of C; the blocks of B go round, and each rank
// multiplies with the block that it has while the next one arrives: the matrix product of the
// thesis on OmpSs, figures 6.16 to 6.21.
#include "variants.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace ring {

namespace {

constexpr const char* k_examples = R"(Examples, on Open MPI and on MPICH:
  mpirun -n 2 ring                      1024 rows and columns, C in tiles of 256 x 256
  mpiexec -n 4 ring --n 3000 --tile 300 --threads 2
  mpirun -n 4 ring --variant tasks-renamed
                                        one variant)";

struct options {
    std::size_t n = 1024;
    std::size_t side = 256;
    std::size_t pieces = 1;
    apps::mpi::variant_options common{{"pure", "fork-join", "tasks-renamed", "tasks-two-buffers"}};

    /// False: only help was requested.
    bool parse(const place& at, int argc, char** argv) {
        cli::command_line app("A matrix product whose second factor goes round the ranks.", "ring");
        apps::add_count(app, "--n", n, 1, 40'000, "rows and columns, at least one a rank");
        const cli::option has_side = apps::add_count(app, "--tile", side, 1, 40'000,
                                                     "rows and columns of a tile of C, at most n");
        const cli::option has_pieces =
            apps::add_count(app, "--pieces", pieces, 1, 10'000,
                            "messages in which tasks pass on a block of B, at most its rows");
        common.add_to(app);
        if (!common.parse(app, k_examples, argc, argv)) {
            return false;
        }
        apps::require_at_most(has_side, "--tile", side, "--n", n);
        side = std::min(side, n);
        apps::mpi::require_at_least_ranks("--n", n, at);
        const std::size_t rows = n / static_cast<std::size_t>(at.ranks);
        if (has_pieces.given() && pieces > rows) {
            throw apps::usage_error(fmt::format(
                "--pieces is '{}'; accepted: a whole number from 1 to the rows of a block, {}",
                pieces, rows));
        }
        return true;
    }
};

/// Without versions a receipt would wait for the sending of the piece before, and that, round the
/// ring, for the receipt.
void require_versions(std::size_t bytes, std::size_t ranks) {
    const double limit = apps::mpi::with_runtime(
        [](const quern::runtime& rt) { return rt.default_pool().knob("renaming-bytes"); });
    if (ranks > 1 && limit < static_cast<double>(bytes)) {
        throw apps::usage_error(
            fmt::format("renaming-bytes is {:.0f}; accepted for tasks-renamed: at least a block "
                        "of B, {} bytes",
                        limit, bytes));
    }
}

int run(const place& at, int argc, char** argv) {
    options chosen;
    if (!chosen.parse(at, argc, argv)) {
        return apps::k_success;
    }
    const double n = static_cast<double>(chosen.n);
    apps::mpi::require_memory(5 * n * n * sizeof(double));
    blas::use_calling_thread();
    if (at.is_first()) {
        apps::dense::warn_of_old_kernels();
    }
    problem p(chosen.n, chosen.side, chosen.pieces, at);
    double worst = 0;
    const auto measured = [&](auto run_it) {
        p.reset();
        const double seconds = run_it();
        const double found = p.residual();
        constexpr double k_most = 30;  // as LAPACK's tests
        apps::mpi::require_on_all(found <= k_most, fmt::format("the residual is {}", found));
        worst = std::max(worst, found);
        return seconds;
    };
    const auto by_tasks = [&](auto how) {
        return measured([&] {
            return apps::mpi::in_task([&] { return apps::mpi::seconds_of_all([&] { how(p); }); });
        });
    };
    std::vector<apps::variant> variants = chosen.common.chosen({
        {"pure",
         [&] {
             return measured([&] { return apps::mpi::seconds_of_all([&] { by_plain_calls(p); }); });
         }},
        {"fork-join",
         [&] {
             return measured([&] {
                 return apps::mpi::with_runtime(
                     [&](auto&) { return apps::mpi::seconds_of_all([&] { by_fork_join(p); }); });
             });
         }},
        {"tasks-renamed", [&] { return by_tasks(by_tasks_renamed); }},
        {"tasks-two-buffers", [&] { return by_tasks(by_tasks_two_buffers); }},
    });
    if (chosen.common.runs("tasks-renamed")) {
        require_versions(p.pieces() * p.largest_piece() * sizeof(double),
                         static_cast<std::size_t>(at.ranks));
    }
    apps::mpi::run_in_turns(variants, chosen.common.repeat);
    fmt::print(
        "ring: {} rows, C in tiles of {}, blocks of B in {} piece{}: residual at most {:.2g}, "
        "right "
        "in every run\n",
        chosen.n, chosen.side, chosen.pieces, chosen.pieces == 1 ? "" : "s", worst);
    apps::mpi::print_all(variants, chosen.common.repeat, at, 2 * n * n * n / 1e9, "GFLOP/s");
    return apps::k_success;
}

}  // namespace

}  // namespace ring

int main(int argc, char** argv) { return apps::mpi::guarded_main("ring", argc, argv, ring::run); }
