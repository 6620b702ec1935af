// SPDX-License-Identifier: BSL-1.0
// stream: the four kernels of STREAM (McCalpin 1995), one after the other. With a barrier after
// each kernel, each moves whole arrays through memory. With tasks ordered by their blocks, a block
// passes through many kernels while it is in the cache.
#include "tasks.hpp"

#include "../common/blocks.hpp"
#include "../common/measure.hpp"
#include "../common/memory.hpp"
#include "../common/table.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace stream {

namespace {

constexpr const char* k_examples = R"(Examples:
  stream                                three arrays of 10 million numbers, 10 iterations
  stream --n 100000000 --block 20000 --threads 2
  stream --block 1000000                a block does not fit into the cache)";

int run(int argc, char** argv) {
    cli::command_line app(
        "The kernels of STREAM, with tasks ordered by their blocks and with barriers.", "stream");
    apps::block_sizes sizes{.n = 10'000'000,
                            .side = 10'000,
                            .words = {.most = 1'000'000'000'000,
                                      .n = "numbers in each of the three arrays",
                                      .side = "numbers in a block, at most n"}};
    int iterations = 10;
    sizes.add_to(app);
    apps::add_count(app, "--iterations", iterations, 1, 1'000'000, "times that all kernels run");
    if (!sizes.parse(app, k_examples, argc, argv)) {
        return apps::k_success;
    }
    const std::size_t n = sizes.n;
    const std::size_t side = sizes.side;
    apps::require_memory(3.0 * static_cast<double>(n) * sizeof(double));
    const quern::runtime rt;

    arrays x(n);
    const auto measured = [&](auto how) {
        x.reset();
        const double seconds = apps::seconds_of(how);
        const std::size_t wrong = x.first_wrong(iterations);
        if (wrong < n) {
            throw std::runtime_error("wrong answer: the numbers at " + std::to_string(wrong) +
                                     " differ from those of a serial computation");
        }
        return seconds;
    };
    const auto in_task = [&](auto how) {
        return measured([&] { quern::async(rt, [&] { how(x, side, iterations); }).get(); });
    };
    std::vector<apps::variant> variants;
    variants.push_back({"serial", [&] { return measured([&] { run_serially(x, iterations); }); }});
    variants.push_back({"barriers", [&] { return in_task(run_with_barriers); }});
    variants.push_back({"tasks", [&] { return in_task(run_by_tasks); }});
    apps::run_in_turns(variants, sizes.repeat);
    fmt::print(
        "stream: 3 arrays of {} numbers in blocks of {}, {} iterations: right in every bit and "
        "run\n",
        n, side, iterations);
    apps::print_workers_and_runs(rt, sizes.repeat);
    apps::print_ratios(variants);
    constexpr double k_numbers_moved = 2 + 2 + 3 + 3;  // as STREAM counts them
    apps::print_rates(variants,
                      k_numbers_moved * sizeof(double) * static_cast<double>(n) * iterations / 1e9,
                      "GB/s");
    fmt::print("  tasks to barriers: {:.2f} times as fast\n",
               variants[1].middle() / variants[2].middle());
    return apps::k_success;
}

}  // namespace

}  // namespace stream

int main(int argc, char** argv) {
    return apps::guarded_main("stream", [&] { return stream::run(argc, argv); });
}
