// SPDX-License-Identifier: BSL-1.0
// sparselu: the LU factorisation of a sparse matrix of blocks, after BOTS. Blocks that are zero
// have no tasks, so the work is irregular; a phase that ends with a barrier leaves workers without
// work.
#include "tasks.hpp"

#include "../common/blocks.hpp"
#include "../common/measure.hpp"
#include "../common/memory.hpp"
#include "../common/table.hpp"

#include <cstddef>
#include <stdexcept>
#include <vector>

namespace sparselu {

namespace {

constexpr const char* k_examples = R"(Examples:
  sparselu                              2000 rows in blocks of 50
  sparselu --n 5000 --block 100 --threads 2     the size of BOTS
  sparselu --n 1000 --block 300         the last blocks are smaller)";

int run(int argc, char** argv) {
    cli::command_line app(
        "LU factorisation of a sparse matrix of blocks, with tasks ordered by their data.",
        "sparselu");
    apps::block_sizes sizes{.n = 2000, .side = 50};
    sizes.add_to(app);
    if (!sizes.parse(app, k_examples, argc, argv)) {
        return apps::k_success;
    }
    const std::size_t n = sizes.n;
    const std::size_t side = sizes.side;
    // Three matrices, of which a quarter or less is not zero.
    apps::require_memory(3.0 * static_cast<double>(n) * static_cast<double>(n));
    const quern::runtime rt;

    matrix factors(n, side);
    const amount all = factorise(factors);
    const double error = residual(factors, matrix(n, side));
    constexpr double k_most = 10;
    if (!(error <= k_most)) {
        throw std::runtime_error(fmt::format("wrong answer: the residual is {}", error));
    }
    const auto measured = [&](auto&& how) {
        matrix a(n, side);
        const double seconds = apps::seconds_of([&] { how(a); });
        if (!a.equals(factors)) {
            throw std::runtime_error("wrong answer: the factors differ from the serial ones");
        }
        return seconds;
    };
    const auto as_task = [&rt](auto how) {
        return [&rt, how](matrix& a) { quern::async(rt, [&a, how] { how(a); }).get(); };
    };
    std::vector<apps::variant> variants;
    variants.push_back({"serial", [&] { return measured(factorise); }});
    variants.push_back({"barriers", [&] { return measured(as_task(factorise_with_barriers)); }});
    variants.push_back({"tasks", [&] { return measured(as_task(factorise_by_tasks)); }});
    apps::run_in_turns(variants, sizes.repeat);
    fmt::print(
        "sparselu: {} rows in blocks of {}, {} tasks: residual {:.2g}, bitwise equal in every "
        "run\n",
        n, side, all.tasks, error);
    apps::print_workers_and_runs(rt, sizes.repeat);
    apps::print_ratios(variants);
    apps::print_rates(variants, all.flop / 1e9, "GFLOP/s");
    return apps::k_success;
}

}  // namespace

}  // namespace sparselu

int main(int argc, char** argv) {
    return apps::guarded_main("sparselu", [&] { return sparselu::run(argc, argv); });
}
