// SPDX-License-Identifier: BSL-1.0
// gauss_seidel: heat in a square. A block needs the blocks above and left of it of the same sweep,
// and those below and right of it of the sweep before: a wavefront. With tasks ordered by their
// data the next sweep begins behind the wavefront of this one.
#include "tasks.hpp"

#include "../common/blocks.hpp"
#include "../common/measure.hpp"
#include "../common/memory.hpp"
#include "../common/table.hpp"

#include <cstddef>
#include <stdexcept>
#include <vector>

namespace gauss_seidel {

namespace {

constexpr const char* k_examples = R"(Examples:
  gauss_seidel                          2048 x 2048 points in blocks of 128 x 128, 20 sweeps
  gauss_seidel --n 4096 --block 256 --sweeps 50 --threads 2
  gauss_seidel --n 1000 --block 300     the last blocks are smaller)";

int run(int argc, char** argv) {
    cli::command_line app(
        "Heat in a square by Gauss-Seidel sweeps, with tasks ordered by their data.",
        "gauss_seidel");
    apps::block_sizes sizes{.n = 2048,
                            .side = 128,
                            .words = {.most = 1'000'000,
                                      .n = "points along each side",
                                      .side = "points along each side of a block, at most n"}};
    int sweeps = 20;
    sizes.add_to(app);
    apps::add_count(app, "--sweeps", sweeps, 1, 1'000'000, "sweeps over the grid");
    if (!sizes.parse(app, k_examples, argc, argv)) {
        return apps::k_success;
    }
    const std::size_t n = sizes.n;
    const std::size_t side = sizes.side;
    const double points = static_cast<double>(n) * static_cast<double>(n);
    apps::require_memory(2 * points * sizeof(double));
    const quern::runtime rt;

    const std::vector<double> by_rows = swept_by_rows(n, sweeps);
    grid by_blocks(n, side);
    const auto measured = [&](auto how) {
        by_blocks.reset();
        const double seconds = apps::seconds_of(how);
        if (!by_blocks.equals(by_rows)) {
            throw std::runtime_error("wrong answer: the grid differs from the one swept by rows");
        }
        return seconds;
    };
    const auto in_task = [&](auto how) {
        return measured([&] { quern::async(rt, [&] { how(by_blocks, sweeps); }).get(); });
    };
    std::vector<apps::variant> variants;
    variants.push_back(
        {"serial", [&] { return measured([&] { sweep_serially(by_blocks, sweeps); }); }});
    variants.push_back({"barriers", [&] { return in_task(sweep_with_barriers); }});
    variants.push_back({"tasks", [&] { return in_task(sweep_by_tasks); }});
    apps::run_in_turns(variants, sizes.repeat);
    fmt::print(
        "gauss_seidel: {} x {} points in blocks of {}, {} sweeps, {} tasks: every bit as in "
        "sweeps by rows\n",
        n, n, side, sweeps,
        by_blocks.blocks() * by_blocks.blocks() * static_cast<std::size_t>(sweeps));
    apps::print_workers_and_runs(rt, sizes.repeat);
    apps::print_ratios(variants);
    apps::print_rates(variants, points * sweeps / 1e6, "million points/s");
    return apps::k_success;
}

}  // namespace

}  // namespace gauss_seidel

int main(int argc, char** argv) {
    return apps::guarded_main("gauss_seidel", [&] { return gauss_seidel::run(argc, argv); });
}
