// SPDX-License-Identifier: BSL-1.0
// bench-virtual: predicts a row of the benchmarks for a number of workers that the machine at hand
// does not have. Prints figures marked "simulated".
#include "spawn.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr const char* k_usage =
    "Usage: bench-virtual spawn --machine FILE [option...]\n"
    "  --machine FILE      costs: see bench/virtual/machines\n"
    "  --workers N,...     1 to 1024; default: 2,4,8,16\n"
    "  --ask all|one       victims that a thief asks in a round; default: all\n"
    "  --ask-interval A-B  us between requests of a thief, least and most; default: 5-200\n"
    "  --ask-at-once       a thief has no least interval before its first theft\n"
    "  --coarse NS         pushes farther apart than this publish at once; default: 500\n"
    "  --time-every-push   also those that are slow because a thief has asked, from their start\n"
    "  --tasks N           default: 1048576, as in the benchmark\n"
    "  --seeds N           runs with different seeds; prints median, least and most; default: 5\n"
    "  --scale KEY=F       multiplies one cost, to see what depends on it\n"
    "  --verbose           counts of what happened\n";

struct arguments {
    std::string machine;
    std::vector<unsigned> workers{2, 4, 8, 16};
    virtual_time::rules how;
    long tasks = 1'048'576;
    unsigned seeds = 5;
    std::string scale;
    bool is_verbose = false;
};

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

double number(const std::string& text, std::string& rest) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (end == text.c_str() || !(value >= 0)) {
        refuse("not a number: " + text);
    }
    rest = end;
    return value;
}

double alone(const std::string& text) {
    std::string rest;
    const double value = number(text, rest);
    if (!rest.empty()) {
        refuse("not a number: " + text);
    }
    return value;
}

long whole(const std::string& text, long least, long most) {
    const double value = alone(text);
    if (value != std::floor(value) || value < static_cast<double>(least) ||
        value > static_cast<double>(most)) {
        refuse(text + " is not a whole number from " + std::to_string(least) + " to " +
               std::to_string(most));
    }
    return static_cast<long>(value);
}

void read_interval(const std::string& text, virtual_time::rules& how) {
    std::string rest;
    const double least = number(text, rest);
    double most = least;
    if (!rest.empty() && rest.front() == '-') {
        most = number(rest.substr(1), rest);
    }
    if (!rest.empty() || most < least || !(least > 0)) {
        refuse("--ask-interval: expected us, as in 5-200");
    }
    how.ask_least = static_cast<virtual_time::picoseconds>(least * 1e6);
    how.ask_most = static_cast<virtual_time::picoseconds>(most * 1e6);
}

std::vector<unsigned> read_list(std::string text) {
    std::vector<unsigned> result;
    do {
        const auto comma = std::min(text.find(','), text.size());
        result.push_back(static_cast<unsigned>(
            whole(text.substr(0, comma), 1, virtual_time::machine::k_most_cores)));
        text.erase(0, comma + 1);
    } while (!text.empty());
    return result;
}

arguments read(int argc, char** argv) {
    if (argc < 2 || std::string_view(argv[1]) != "spawn") {
        refuse("expected a row: spawn");
    }
    arguments a;
    for (int i = 2; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--time-every-push") {
            a.how.times_every_push = true;
            continue;
        }
        if (name == "--ask-at-once") {
            a.how.asks_at_once = true;
            continue;
        }
        if (name == "--verbose") {
            a.is_verbose = true;
            continue;
        }
        if (++i == argc) {
            refuse(name + ": unknown, or without a value");
        }
        const std::string value = argv[i];
        if (name == "--machine") {
            a.machine = value;
        } else if (name == "--workers") {
            a.workers = read_list(value);
        } else if (name == "--ask" && (value == "one" || value == "all")) {
            a.how.asks_one = value == "one";
        } else if (name == "--ask-interval") {
            read_interval(value, a.how);
        } else if (name == "--coarse") {
            a.how.coarse = static_cast<virtual_time::picoseconds>(alone(value) * 1e3);
        } else if (name == "--tasks") {
            a.tasks = whole(value, 4, 1'000'000'000);
        } else if (name == "--seeds") {
            a.seeds = static_cast<unsigned>(whole(value, 1, 1000));
        } else if (name == "--scale") {
            a.scale = value;
        } else {
            refuse("unknown option or value: " + name + " " + value);
        }
    }
    if (a.machine.empty()) {
        refuse("--machine is missing");
    }
    return a;
}

void print(const arguments& a, const virtual_time::costs& c, unsigned workers) {
    std::vector<virtual_time::spawn_result> runs;
    for (unsigned seed = 1; seed <= a.seeds; ++seed) {
        runs.push_back(virtual_time::simulate_spawn(c, a.how, workers, a.tasks, seed));
    }
    std::sort(runs.begin(), runs.end(),
              [](const auto& x, const auto& y) { return x.ns_per_task < y.ns_per_task; });
    const auto& median = runs[runs.size() / 2];
    std::printf("spawn, %4u workers: %7.2f ns a task (%.2f to %.2f), simulated\n", workers,
                median.ns_per_task, runs.front().ns_per_task, runs.back().ns_per_task);
    if (a.is_verbose) {
        std::printf(
            "    stolen %.2f%%, answers %.2f a 1000 tasks, parks %llu, late joins %llu, wakes "
            "%llu, "
            "barriers %llu, transfers %llu of %llu accesses\n",
            100 * median.stolen, median.answers, static_cast<unsigned long long>(median.parks),
            static_cast<unsigned long long>(median.late_joins),
            static_cast<unsigned long long>(median.counted.wakes),
            static_cast<unsigned long long>(median.counted.barriers),
            static_cast<unsigned long long>(median.counted.transfers),
            static_cast<unsigned long long>(median.counted.accesses));
    }
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    if (std::find(argv + 1, argv + argc, std::string_view("--help")) != argv + argc) {
        std::fputs(k_usage, stdout);
        return 0;
    }
    try {
        const arguments a = read(argc, argv);
        virtual_time::costs c = virtual_time::read_costs(a.machine);
        if (!a.scale.empty()) {
            virtual_time::scale(c, a.scale);
        }
        for (const unsigned workers : a.workers) {
            print(a, c, workers);
        }
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench-virtual: %s\n%s", error.what(), k_usage);
        return 2;
    }
}
