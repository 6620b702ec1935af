// SPDX-License-Identifier: BSL-1.0
// jacobi: heat in a square by Jacobi sweeps, whose rows are divided among the ranks. With tasks the
// rows of neighbours arrive while tiles that do not need them are swept, and steps overlap.
#include "variants.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace jacobi {

namespace {

constexpr const char* k_examples = R"(Examples, on Open MPI and on MPICH:
  mpirun -n 2 jacobi                    1024 x 1024 points in tiles of 128 x 128, 50 sweeps
  mpiexec -n 4 jacobi --n 4096 --tile 256 --threads 2
  mpirun -n 4 jacobi --variant tasks --every 1
                                        one variant; the change is asked for after each sweep)";

struct options {
    std::size_t n = 1024;
    std::size_t side = 128;
    plan how{50, 10};
    apps::mpi::variant_options common{{"pure", "fork-join", "tasks"}};

    /// False: only help was requested.
    bool parse(const apps::mpi::place& at, int argc, char** argv) {
        cli::command_line app("Heat in a square by Jacobi sweeps on several ranks.", "jacobi");
        apps::add_count(app, "--n", n, 1, 40'000, "points along each side, at least one a rank");
        const cli::option has_side = apps::add_count(app, "--tile", side, 1, 40'000,
                                                     "points along each side of a tile, at most n");
        apps::add_count(app, "--steps", how.steps, 1, 1'000'000, "sweeps over the grid");
        apps::add_count(app, "--every", how.every, 1, 1'000'000,
                        "sweeps after which the largest change of all ranks is asked for");
        common.add_to(app);
        if (!common.parse(app, k_examples, argc, argv)) {
            return false;
        }
        apps::require_at_most(has_side, "--tile", side, "--n", n);
        side = std::min(side, n);
        apps::mpi::require_at_least_ranks("--n", n, at);
        return true;
    }
};

/// Each run of a variant is compared with the serial sweeps, on rank 0.
class problem {
public:
    problem(const options& chosen, const apps::mpi::place& at)
        : m_grid(chosen.n, chosen.side, at),
          m_plan(chosen.how),
          m_right(at.is_first() ? swept_serially(chosen.n, chosen.how) : outcome{}) {}

    /// run(function of the sweeps) calls it, in a task or not.
    template <class Run, class Sweeps>
    double measured(const Run& run, const Sweeps& sweeps) {
        m_grid.reset();
        outcome got;
        const double seconds = run([&] {
            return apps::mpi::seconds_of_all([&] { got.changes = sweeps(m_grid, m_plan); });
        });
        got.points = m_grid.gathered(m_plan.steps % 2);
        apps::mpi::require_on_all(!m_grid.at().is_first() || got.points == m_right.points,
                                  "the grid differs from the one swept serially");
        apps::mpi::require_on_all(!m_grid.at().is_first() || got.changes == m_right.changes,
                                  "the reported changes differ from those of the serial sweeps");
        return seconds;
    }

    const std::vector<double>& changes() const { return m_right.changes; }

private:
    grid m_grid;
    plan m_plan;
    outcome m_right;
};

int run(const apps::mpi::place& at, int argc, char** argv) {
    options chosen;
    if (!chosen.parse(at, argc, argv)) {
        return apps::k_success;
    }
    const double points = static_cast<double>(chosen.n) * static_cast<double>(chosen.n);
    apps::mpi::require_memory(6 * points * sizeof(double));
    problem p(chosen, at);
    std::vector<apps::variant> variants = chosen.common.chosen({
        {"pure", [&] { return p.measured([](auto f) { return f(); }, by_plain_loops); }},
        {"fork-join",
         [&] {
             return p.measured(
                 [](auto f) { return apps::mpi::with_runtime([&](auto&) { return f(); }); },
                 by_fork_join);
         }},
        {"tasks",
         [&] { return p.measured([](auto f) { return apps::mpi::in_task(f); }, by_tasks); }},
    });
    apps::mpi::run_in_turns(variants, chosen.common.repeat);
    fmt::print(
        "jacobi: {} x {} points in tiles of {}, {} sweeps: every bit as in the serial sweeps\n",
        chosen.n, chosen.n, chosen.side, chosen.how.steps);
    apps::mpi::print_all(variants, chosen.common.repeat, at,
                         points * static_cast<double>(chosen.how.steps) / 1e6, "million points/s");
    if (!p.changes().empty()) {
        fmt::print("  the largest change of a point: {:.3g} in sweep {}\n", p.changes().back(),
                   chosen.how.reports() * chosen.how.every);
    }
    return apps::k_success;
}

}  // namespace

}  // namespace jacobi

int main(int argc, char** argv) {
    return apps::mpi::guarded_main("jacobi", argc, argv, jacobi::run);
}
