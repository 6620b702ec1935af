// SPDX-License-Identifier: BSL-1.0
// bench-virtual: predicts a row of the benchmarks for a number of workers that the machine at hand
// does not have. Prints figures marked "simulated".
#include "idle.hpp"
#include "options.hpp"
#include "spawn.hpp"

#include <quern/base/detail/nearest_match.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace virtual_time;

row_result spawn_row(const setup& s) {
    const spawn_result r = simulate_spawn(s.cost, s.how, s.workers, s.size, s.seed);
    return {r.ns_per_task,
            {{"stolen_%", 100 * r.stolen},
             {"answers_a_1000", r.answers},
             {"parks", static_cast<double>(r.parks)},
             {"suspensions", static_cast<double>(r.suspensions)},
             {"wakes", static_cast<double>(r.counted.wakes)},
             {"barriers", static_cast<double>(r.counted.barriers)},
             {"transfers", static_cast<double>(r.counted.transfers)},
             {"accesses", static_cast<double>(r.counted.accesses)}}};
}

struct row {
    std::string_view name;
    const char* unit;
    long size;
    double work_ns;
    row_result (*simulate)(const setup&);
};

constexpr row k_rows[] = {{"spawn", "ns a task", 1'048'576, 0, spawn_row},
                          {"fork", "us", 1'048'576, 0.7, simulate_fork},
                          {"loop", "us", 1'048'576, 0.7, simulate_loop},
                          {"uts", "ns a node", 500, 250, simulate_uts},
                          {"leaf", "us idle", 1000, 0, simulate_leaf},
                          {"phase", "us idle", 100'000, 1, simulate_phase}};

const row& row_named(std::string_view name) {
    for (const row& each : k_rows) {
        if (each.name == name) {
            return each;
        }
    }
    std::vector<std::string_view> known;
    for (const row& each : k_rows) {
        known.push_back(each.name);
    }
    throw std::invalid_argument("unknown row " + std::string(name) + "; " +
                                quern::detail::accepted_values(name, known));
}

void print(const options& o, const row& which, setup s) {
    std::vector<row_result> runs;
    for (unsigned seed = 1; seed <= o.seeds; ++seed) {
        s.seed = seed;
        runs.push_back(which.simulate(s));
    }
    std::sort(runs.begin(), runs.end(),
              [](const row_result& x, const row_result& y) { return x.value < y.value; });
    const row_result& median = runs[runs.size() / 2];
    std::printf("%s, %4u workers: %9.2f %s (%.2f to %.2f), simulated\n", o.row.c_str(), s.workers,
                median.value, which.unit, runs.front().value, runs.back().value);
    if (o.is_verbose) {
        const char* before = "    ";
        for (const auto& [name, value] : median.more) {
            std::printf("%s%s %.2f", before, name.c_str(), value);
            before = ", ";
        }
        std::printf("\n");
    }
    std::fflush(stdout);
}

void run(const options& o) {
    const row& which = row_named(o.row);
    setup s;
    s.cost = read_costs(o.machine);
    if (!o.scale.empty()) {
        scale(s.cost, o.scale);
    }
    s.how = o.how;
    s.size = o.size.value_or(which.size);
    s.work = o.work.value_or(static_cast<picoseconds>(which.work_ns * 1e3));
    s.before = o.before;
    s.rounds = o.rounds;
    s.by = o.by;
    for (const unsigned workers : o.workers) {
        s.workers = workers;
        print(o, which, s);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (std::find(argv + 1, argv + argc, std::string_view("--help")) != argv + argc) {
        std::fputs(k_usage, stdout);
        return 0;
    }
    try {
        run(read_options(argc, argv));
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench-virtual: %s\nbench-virtual --help says more.\n", error.what());
        return 2;
    }
}
