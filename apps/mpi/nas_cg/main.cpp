// SPDX-License-Identifier: BSL-1.0
// nas_cg: the NAS benchmark CG: an eigenvalue of a random sparse matrix by the power method, each
// step of which solves a system by conjugate gradients. Rows are divided among the ranks.
#include "variants.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace nas_cg {

namespace {

constexpr const char* k_examples = R"(Examples, on Open MPI and on MPICH:
  mpirun -n 2 nas_cg                    class S
  mpiexec -n 4 nas_cg --class A --threads 2 --repeat 1
  mpirun -n 4 nas_cg --variant tasks --strips 2
                                        one variant, larger tasks)";

struct options {
    std::string name = "S";
    std::size_t strips = 4;
    apps::mpi::variant_options common{{"pure", "tasks"}};

    /// False: only help was requested.
    bool parse(int argc, char** argv) {
        cli::command_line app("The NAS benchmark CG.", "nas_cg");
        app.add("--class", name, "size of the problem (S, W, A)").shows_default();
        apps::add_count(app, "--strips", strips, 1, 1000,
                        "parts into which a rank divides its rows, one for each task");
        common.add_to(app);
        if (!common.parse(app, k_examples, argc, argv)) {
            return false;
        }
        apps::checked_word("--class", name, {"S", "W", "A"});
        return true;
    }

    const problem_class& kind() const {
        return *std::find_if(std::begin(k_classes), std::end(k_classes),
                             [this](const problem_class& c) { return c.name == name; });
    }
};

/// Operations of a run, as the benchmark counts them.
double operations_of(const problem_class& c) {
    const double in_product = static_cast<double>(c.nonzero * (c.nonzero + 1));
    return 2.0 * c.outer * static_cast<double>(c.n) *
           (3 + in_product + k_inner * (5 + in_product) + 3);
}

int run(const apps::mpi::place& at, int argc, char** argv) {
    options chosen;
    if (!chosen.parse(argc, argv)) {
        return apps::k_success;
    }
    const problem_class& kind = chosen.kind();
    apps::mpi::require_at_least_ranks("rows of the class", kind.n, at);
    vectors v(kind, chosen.strips, at);
    answer found;
    const auto measured = [&](auto in_place, auto solve) {
        v.reset();
        const double seconds =
            in_place([&] { return apps::mpi::seconds_of_all([&] { found = solve(); }); });
        constexpr double k_most = 1e-10;  // the benchmark's
        apps::mpi::require_on_all(
            std::abs(found.zeta - kind.zeta) <= k_most * kind.zeta,
            fmt::format("zeta is {:.13f} and not {:.13f}", found.zeta, kind.zeta));
        return seconds;
    };
    std::vector<apps::variant> variants = chosen.common.chosen({
        {"pure",
         [&] {
             return measured([](auto f) { return f(); }, [&] { return plain_calls(v).run(); });
         }},
        {"tasks",
         [&] {
             return measured([](auto f) { return apps::mpi::in_task(f); },
                             [&] { return task_maker(v).run(); });
         }},
    });
    apps::mpi::run_in_turns(variants, chosen.common.repeat);
    fmt::print(
        "nas_cg: class {}, {} rows in {} strips a rank: zeta {:.13f}, right in every run; "
        "residual {:.2g}\n",
        kind.name, kind.n, chosen.strips, found.zeta, found.residual);
    apps::mpi::print_all(variants, chosen.common.repeat, at, operations_of(kind) / 1e9, "GFLOP/s");
    return apps::k_success;
}

}  // namespace

}  // namespace nas_cg

int main(int argc, char** argv) {
    return apps::mpi::guarded_main("nas_cg", argc, argv, nas_cg::run);
}
