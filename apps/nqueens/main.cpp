// SPDX-License-Identifier: BSL-1.0
// nqueens: the number of ways to place n queens on a board without attacks; a task for every queen
// that is placed, without a cut-off and with one that is chosen while the program runs.
#include "../common/cli.hpp"
#include "../common/measure.hpp"
#include "../common/table.hpp"

#include <quern/adaptation/cutoff.hpp>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace nqueens {

namespace {

constexpr const char* k_examples = R"(Examples:
  nqueens                      13 queens: 73712 ways
  nqueens --n 15 --threads 2 --repeat 3)";

constexpr int k_largest = 17;
/// OEIS A000170.
constexpr std::array<std::uint64_t, k_largest + 1> k_known = {
    1,   1,   0,    0,     2,     10,     4,       40,       92,
    352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512, 95815104};

/// Bits are columns of the next row. Queens above forbid those in `columns`, `left` and `right`: on
/// the columns and on the diagonals to the left and right.
using row = std::uint32_t;

constexpr row lowest(row places) noexcept { return places & (~places + 1); }

std::uint64_t count(row all, row columns, row left, row right) {
    if (columns == all) {
        return 1;
    }
    std::uint64_t ways = 0;
    for (row places = all & ~(columns | left | right); places != 0; places &= places - 1) {
        const row queen = lowest(places);
        ways += count(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    }
    return ways;
}

/// The rows that are filled; the parallel search passes this from task to task.
struct board {
    row all, columns, left, right;

    board with(row queen) const noexcept {
        return {all, columns | queen, (left | queen) << 1, (right | queen) >> 1};
    }
};

inline std::uint64_t count(quern::fork_context here, const board& b);

/// Places a queen on the lowest of `places` now, and forks the other places.
inline std::uint64_t count_places(quern::fork_context here, const board& b, row places) {
    const row others = places & (places - 1);
    if (others == 0) {
        return count(here, b.with(lowest(places)));
    }
    const auto [rest, one] = quern::fork_join(
        here, [&b, others](quern::fork_context c) { return count_places(c, b, others); },
        [&b, places](quern::fork_context c) { return count(c, b.with(lowest(places))); });
    return rest + one;
}

inline std::uint64_t count(quern::fork_context here, const board& b) {
    if (b.columns == b.all) {
        return 1;
    }
    const row places = b.all & ~(b.columns | b.left | b.right);
    return places == 0 ? 0 : count_places(here, b, places);
}

/// How the work grows with the rows that are left: by about this factor for each.
double subtree_cost(const board& b) {
    constexpr double k_per_row = 3.5;
    return std::pow(k_per_row, std::popcount(b.all & ~b.columns));
}

template <class Cutoff>
std::uint64_t fork_places(quern::fork_context here, Cutoff& cutoff, const board& b, row places);

/// As count, and serial below a cut-off.
template <class Cutoff>
std::uint64_t count_to(quern::fork_context here, Cutoff& cutoff, const board& b) {
    return cutoff(
        subtree_cost(b),
        [&] {
            if (b.columns == b.all) {
                return std::uint64_t{1};
            }
            std::uint64_t ways = 0;
            const row places = b.all & ~(b.columns | b.left | b.right);
            if (places != 0) {
                ways = fork_places(here, cutoff, b, places);
            }
            return ways;
        },
        [&] { return count(b.all, b.columns, b.left, b.right); });
}

template <class Cutoff>
std::uint64_t fork_places(quern::fork_context here, Cutoff& cutoff, const board& b, row places) {
    const row others = places & (places - 1);
    if (others == 0) {
        return count_to(here, cutoff, b.with(lowest(places)));
    }
    const auto [rest, one] = quern::fork_join(
        here, [&](quern::fork_context c) { return fork_places(c, cutoff, b, others); },
        [&](quern::fork_context c) { return count_to(c, cutoff, b.with(lowest(places))); });
    return rest + one;
}

template <class Cutoff>
std::uint64_t count_in_parallel_to(Cutoff& cutoff, row all) {
    const board empty{all, 0, 0, 0};
    return quern::fork_join([&](quern::fork_context c) { return count_to(c, cutoff, empty); },
                            [] { return 0; })
        .first;
}

struct fixed_cutoff {
    double most;

    template <class Parallel, class Serial>
    auto operator()(double cost, Parallel&& parallel, Serial&& serial) const {
        return cost <= most ? serial() : parallel();
    }
};

/// Runs in a task: finds the first context and starts on the empty board.
std::uint64_t count_in_parallel(row all) {
    const board empty{all, 0, 0, 0};
    return quern::fork_join([&empty](quern::fork_context c) { return count(c, empty); },
                            [] { return 0; })
        .first;
}

template <class F>
double checked_seconds(int n, F&& f) {
    std::uint64_t ways = 0;
    const double seconds = apps::seconds_of([&] { ways = f(); });
    const std::uint64_t known = k_known[static_cast<std::size_t>(n)];
    if (ways != known) {
        throw std::runtime_error(
            fmt::format("wrong answer: {} queens stand in {} ways and not {}", n, known, ways));
    }
    return seconds;
}

int run(int argc, char** argv) {
    cli::command_line app("Queens on a board, a task for every queen that is placed.", "nqueens");
    int n = 13;
    int repeat = 5;
    apps::add_count(app, "--n", n, 1, k_largest, "queens, and rows of the board");
    apps::add_count(app, "--repeat", repeat, 1, 10'000, "measured runs of each variant");
    apps::add_runtime_options(app);
    app.footer(k_examples);
    if (!apps::parse(app, argc, argv)) {
        return apps::k_success;
    }
    const quern::runtime rt;
    const row all = (1U << n) - 1;
    quern::worker_totals spent;
    const auto in_parallel = [&](auto&& counted) {
        double seconds = 0;
        spent += apps::totals_of(rt, [&] {
            seconds = checked_seconds(n, [&] { return quern::async(rt, counted).get(); });
        });
        return seconds;
    };
    std::vector<apps::variant> variants{
        {"serial", [&] { return checked_seconds(n, [&] { return count(all, 0, 0, 0); }); }},
        {"fork_join", [&] { return in_parallel([all] { return count_in_parallel(all); }); }}};
    for (int rows = 3; rows < n; rows += 2) {
        variants.push_back({"serial from " + std::to_string(rows) + " rows", [&, rows] {
                                fixed_cutoff to{subtree_cost({(1U << rows) - 1, 0, 0, 0})};
                                return in_parallel([&] { return count_in_parallel_to(to, all); });
                            }});
    }
    quern::cutoff chosen("nqueens");
    variants.push_back({"quern::cutoff", [&] {
                            return in_parallel([&] { return count_in_parallel_to(chosen, all); });
                        }});
    apps::run_in_turns(variants, repeat);
    fmt::print("nqueens: {} queens stand in {} ways: right in every run\n", n,
               k_known[static_cast<std::size_t>(n)]);
    fmt::print("{} worker{}, policy {}, median of {}\n", rt.workers(), rt.workers() == 1 ? "" : "s",
               rt.default_pool().policy(), repeat);
    apps::print_ratios(variants);
    apps::print_workers(spent);
    return apps::k_success;
}

}  // namespace

}  // namespace nqueens

int main(int argc, char** argv) {
    return apps::guarded_main("nqueens", [&] { return nqueens::run(argc, argv); });
}
