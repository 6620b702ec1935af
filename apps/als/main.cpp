// SPDX-License-Identifier: BSL-1.0
// als: alternating least squares with a task for every primitive, however small: the benchmark of
// Wagle et al. 2019. Shows the cost of tasks that are too small, and which launch policy saves it.
#include "problem.hpp"
#include "tasks.hpp"

#include "../common/cli.hpp"
#include "../common/measure.hpp"
#include "../common/table.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace als {

namespace {

constexpr const char* k_examples = R"(Examples:
  als                                          400 users and items, 10 sweeps
  als --users 10 --items 5 --sweeps 2000       the other sizes of the paper
  als --users 500 --items 5000 --sweeps 2 --threads 2
  als --launch adaptive --quern:inlining=baseline
  als --launch sync                            every primitive called by the task that launches it)";

struct launch_name {
    std::string_view name;
    quern::launch how;
};

constexpr launch_name k_launches[] = {
    {"adaptive", quern::launch::adaptive},
    {"async", quern::launch::async},
    {"fork", quern::launch::fork},
    {"sync", quern::launch::sync},
};

quern::launch launch_named(const std::string& name) {
    std::vector<std::string_view> names;
    for (const launch_name& each : k_launches) {
        if (each.name == name) {
            return each.how;
        }
        names.push_back(each.name);
    }
    throw apps::usage_error(
        fmt::format("--launch is '{}'; {}", name, apps::accepted_text(name, names)));
}

struct arguments {
    parameters p;
    std::string launch = "async";
    int repeat = 5;
};

/// False when only help was requested.
bool read_arguments(arguments& a, int argc, char** argv) {
    cli::command_line app("Alternating least squares, a task for every primitive.", "als");
    apps::add_count(app, "--users", a.p.users, 1, 1'000'000, "rows of the table of ratings");
    apps::add_count(app, "--items", a.p.items, 1, 1'000'000, "columns");
    apps::add_count(app, "--factors", a.p.factors, 1, 1'000, "numbers for each user and item");
    apps::add_count(app, "--sweeps", a.p.sweeps, 1, 1'000'000, "over all users, then all items");
    apps::add_number(app, "--alpha", a.p.alpha, 0.001, 1e6, "confidence in a rating of 1");
    apps::add_number(app, "--regularization", a.p.regularization, 1e-6, 1e6,
                     "weight of the squares of factors in the objective");
    apps::add_count(app, "--seed", a.p.seed, 0, 1'000'000'000, "of the ratings");
    app.add("--launch", a.launch, "launch policy of primitives: adaptive, async, fork or sync")
        .shows_default();
    apps::add_count(app, "--repeat", a.repeat, 1, 10'000, "measured runs of each variant");
    apps::add_runtime_options(app);
    app.footer(k_examples);
    return apps::parse(app, argc, argv);
}

/// What a run gave. `objectives` begins with that of the start.
struct outcome {
    factors found;
    numbers objectives;
    double seconds = 0;  ///< in sweeps
};

/// `half` solves one half of a sweep.
template <class Half>
outcome run_sweeps(const problem& p, Half&& half) {
    outcome o{p.start(), {p.objective(p.start())}};
    for (std::size_t sweep = 0; sweep < p.given().sweeps; ++sweep) {
        o.seconds += apps::seconds_of([&] {
            half(p.over_users(o.found));
            half(p.over_items(o.found));
        });
        o.objectives.push_back(p.objective(o.found));
    }
    return o;
}

/// Both halves of a sweep minimise the objective, so it cannot rise but by rounding.
void check_descent(const numbers& objectives) {
    constexpr double k_rounding = 1e-10;  // relative; of sums in another order
    for (std::size_t i = 1; i < objectives.size(); ++i) {
        if (!(objectives[i] <= objectives[i - 1] * (1 + k_rounding))) {
            throw std::runtime_error(
                fmt::format("wrong answer: sweep {} changes the objective from {} to {}", i,
                            objectives[i - 1], objectives[i]));
        }
    }
}

void check_same(const numbers& found, const numbers& serial) {
    constexpr double k_tolerance = 1e-9;  // of the largest factor
    double largest = 0;
    double difference = 0;
    for (std::size_t i = 0; i < serial.size(); ++i) {
        largest = std::max(largest, std::abs(serial[i]));
        difference = std::max(difference, std::abs(found[i] - serial[i]));
    }
    if (!(difference <= k_tolerance * largest)) {
        throw std::runtime_error(fmt::format(
            "wrong answer: a factor differs from the serial solution by {}", difference));
    }
}

double checked_seconds(const outcome& o, const outcome& serial) {
    check_descent(o.objectives);
    check_same(o.found.users.all, serial.found.users.all);
    check_same(o.found.items.all, serial.found.items.all);
    return o.seconds;
}

void print_tasks(const parameters& p, const std::vector<apps::variant>& variants) {
    const std::size_t tasks = p.sweeps * (2 + k_primitives_of_row * (p.users + p.items));
    const auto each = [tasks](double seconds) {
        return seconds / static_cast<double>(tasks) * 1e9;
    };
    fmt::print("  {} primitives a run, {:.0f} ns of serial work each\n", tasks,
               each(variants.front().middle()));
}

int run(int argc, char** argv) {
    arguments a;
    if (!read_arguments(a, argc, argv)) {
        return apps::k_success;
    }
    const quern::launch how = launch_named(a.launch);
    const quern::runtime rt;
    const problem p(a.p);
    const outcome serial = run_sweeps(p, run_serially);
    check_descent(serial.objectives);

    quern::worker_totals spent;
    const auto by_tasks = [&] {
        double seconds = 0;
        spent += apps::totals_of(rt, [&] {
            const outcome o =
                quern::async(rt, [&] {
                    return run_sweeps(p, [how](const half_sweep& h) { run_tasks(how, h); });
                }).get();
            seconds = checked_seconds(o, serial);
        });
        return seconds;
    };
    std::vector<apps::variant> variants{
        {"serial", [&] { return checked_seconds(run_sweeps(p, run_serially), serial); }},
        {"launch::" + a.launch, by_tasks}};
    apps::run_in_turns(variants, a.repeat);
    fmt::print("als: {} users, {} items, {} factors: as the serial solution in every run\n",
               a.p.users, a.p.items, a.p.factors);
    fmt::print("objective {:.6g}, after {} sweeps {:.6g}; no sweep increased it\n",
               serial.objectives.front(), a.p.sweeps, serial.objectives.back());
    fmt::print("{} worker{}, policy {}, median of {}\n", rt.workers(), rt.workers() == 1 ? "" : "s",
               rt.default_pool().policy(), a.repeat);
    apps::print_ratios(variants);
    print_tasks(a.p, variants);
    apps::print_workers(spent);
    return apps::k_success;
}

}  // namespace

}  // namespace als

int main(int argc, char** argv) {
    return apps::guarded_main("als", [&] { return als::run(argc, argv); });
}
