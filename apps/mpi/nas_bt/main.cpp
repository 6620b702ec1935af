// SPDX-License-Identifier: BSL-1.0
// nas_bt: the NAS benchmark BT: steps of a compressible flow in a cube by an alternating direction
// implicit scheme, which solves block tridiagonal systems along x, y and z. The cells of a rank lie
// on a diagonal of the cube.
#include "tasks.hpp"
#include "variants.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace nas_bt {

namespace {

constexpr const char* k_examples = R"(Examples, on Open MPI and on MPICH:
  mpirun -n 1 nas_bt                    class S
  mpiexec -n 4 nas_bt --class A --threads 2 --repeat 1
  mpirun -n 4 nas_bt --variant tasks --strips 4
                                        one variant, smaller tasks)";

struct options {
    std::string name = "S";
    std::size_t strips = 2;
    apps::mpi::variant_options common{{"pure", "fork-join", "tasks"}};

    /// False: only help was requested.
    bool parse(int argc, char** argv) {
        cli::command_line app("The NAS benchmark BT, on 1, 4, 9 ... ranks.", "nas_bt");
        app.add("--class", name, "size of the problem (S, W, A)").shows_default();
        apps::add_count(app, "--strips", strips, 1, 1000,
                        "parts into which each cell is divided, one for each task");
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

/// Of the norms of all runs with the published ones.
class comparison {
public:
    explicit comparison(const problem_class& right) : m_right(right) {}

    /// Throws common_failure on all ranks if one is wrong.
    void compare(const five& residual, const five& error) {
        std::string wrong;
        compare("residual", residual, m_right.residual, wrong);
        compare("error", error, m_right.error, wrong);
        apps::mpi::require_on_all(wrong.empty(), wrong);
    }
    /// The largest relative difference so far.
    double worst() const { return m_worst; }

private:
    void compare(const char* name, const five& got, const five& right, std::string& wrong) {
        constexpr double k_most = 1e-8;  // the benchmark's
        for (std::size_t m = 0; m < 5; ++m) {
            const double difference = std::abs(got[m] - right[m]) / right[m];
            if (!(difference <= k_most) && wrong.empty()) {
                wrong = fmt::format("norm {} of the {} is {:.13e} and not {:.13e}", m + 1, name,
                                    got[m], right[m]);
            }
            m_worst = std::max(m_worst, difference);
        }
    }

    problem_class m_right;
    double m_worst = 0;
};

int run(const apps::mpi::place& at, int argc, char** argv) {
    options chosen;
    if (!chosen.parse(argc, argv)) {
        return apps::k_success;
    }
    const problem_class& kind = chosen.kind();
    parts p(partition(kind, at), chosen.strips);
    comparison norms(kind);
    const auto measured = [&](auto in_place, auto steps) {
        p.reset();
        const double seconds =
            in_place([&] { return apps::mpi::seconds_of_all([&] { steps(p); }); });
        const five residual = p.residual();
        norms.compare(residual, p.error());
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
        "nas_bt: class {}, {} x {} x {} points, {} steps, {} cell{} a rank in {} strips: residual "
        "and error right in every run, within {:.1e}\n",
        kind.name, kind.n, kind.n, kind.n, kind.steps, p.cells(), p.cells() == 1 ? "" : "s",
        p.strips(), norms.worst());
    apps::mpi::print_all(variants, chosen.common.repeat, at, kind.operations() / 1e9, "GFLOP/s");
    return apps::k_success;
}

}  // namespace

}  // namespace nas_bt

int main(int argc, char** argv) {
    return apps::mpi::guarded_main("nas_bt", argc, argv, nas_bt::run);
}
