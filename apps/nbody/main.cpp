// SPDX-License-Identifier: BSL-1.0
// nbody: all pairs of bodies attract each other. A task for each pair of blocks adds to the
// accelerations of one of them; the tasks of a block follow each other, in the order of the serial
// sum.
#include "tasks.hpp"

#include "../common/blocks.hpp"
#include "../common/measure.hpp"
#include "../common/memory.hpp"
#include "../common/table.hpp"

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace nbody {

namespace {

constexpr const char* k_examples = R"(Examples:
  nbody                                 2048 bodies in blocks of 128, 10 steps
  nbody --n 16384 --block 512 --steps 3 --threads 2
  nbody --n 1000 --block 300            the last block is smaller)";

/// Throws if the momenta have changed by more than rounding does.
void expect_momentum(bodies& moved, bodies& before) {
    constexpr double k_rounding = 1e-9;  // the speeds are near 1
    for (std::size_t d = 0; d < 3; ++d) {
        const double change = std::abs(moved.momentum(d) - before.momentum(d));
        if (!(change <= k_rounding)) {
            throw std::runtime_error(
                fmt::format("wrong answer: the sum of momenta changed by {}", change));
        }
    }
}

int run(int argc, char** argv) {
    cli::command_line app("Bodies that attract each other, with tasks ordered by their data.",
                          "nbody");
    apps::block_sizes sizes{
        .n = 2048,
        .side = 128,
        .words = {.most = 1'000'000'000, .n = "bodies", .side = "bodies of a block, at most n"}};
    int steps = 10;
    sizes.add_to(app);
    apps::add_count(app, "--steps", steps, 1, 1'000'000, "steps of time");
    if (!sizes.parse(app, k_examples, argc, argv)) {
        return apps::k_success;
    }
    const std::size_t n = sizes.n;
    const std::size_t side = sizes.side;
    apps::require_memory(2 * 3 * 3.0 * static_cast<double>(n) * sizeof(double));
    const quern::runtime rt;

    bodies serially(n, side);
    bodies by_tasks(n, side);
    const auto in_task = [&](auto how) {
        by_tasks.reset();
        const double seconds =
            apps::seconds_of([&] { quern::async(rt, [&] { how(by_tasks, steps); }).get(); });
        if (!by_tasks.equals(serially)) {
            throw std::runtime_error("wrong answer: the bodies are not where the serial ones are");
        }
        return seconds;
    };
    std::vector<apps::variant> variants;
    variants.push_back({"serial", [&] {  // first in every round, so the others have its bodies
                            by_tasks.reset();
                            serially.reset();
                            const double seconds =
                                apps::seconds_of([&] { advance_serially(serially, steps); });
                            expect_momentum(serially, by_tasks);
                            return seconds;
                        }});
    variants.push_back({"barriers", [&] { return in_task(advance_with_barriers); }});
    variants.push_back({"tasks", [&] { return in_task(advance_by_tasks); }});
    apps::run_in_turns(variants, sizes.repeat);
    const std::size_t blocks = serially.blocks();
    fmt::print(
        "nbody: {} bodies in blocks of {}, {} steps, {} tasks: every bit as in the serial steps\n",
        n, side, steps, (blocks + 1) * blocks * static_cast<std::size_t>(steps));
    apps::print_workers_and_runs(rt, sizes.repeat);
    apps::print_ratios(variants);
    apps::print_rates(variants, static_cast<double>(n) * static_cast<double>(n) * steps / 1e6,
                      "million pairs/s");
    return apps::k_success;
}

}  // namespace

}  // namespace nbody

int main(int argc, char** argv) {
    return apps::guarded_main("nbody", [&] { return nbody::run(argc, argv); });
}
