// SPDX-License-Identifier: BSL-1.0
// `quern tune`: finds good arguments for a program by running it many times. This file is its
// command line; tune_words reads parameters, tune_search runs, tune_report writes.
#include "command.hpp"
#include "tune/report.hpp"

#include <quern/base/detail/nearest_match.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <unistd.h>

namespace quern::tool {

namespace {

namespace fs = std::filesystem;

constexpr const char* k_examples = R"(Examples:
  quern tune --size p=1000:1e7@100000 -- heat --partition {p}
                              the partition with the least wall time
  quern tune --power-of-two b=1:64 -- QUERN_STEAL_BATCH={b} fib --n 30
                              a variable of the environment
  quern tune --integer rows=8:512:8 --integer columns=8:512:8 --time 'time: ([0-9.]+)' \
      -- ./multiply --tile {rows}x{columns}
                              two numbers; the cost is what the program prints
  quern tune --choice policy=work-stealing,static --strategy exhaustive \
      -- QUERN_POLICY={policy} ./multiply

A parameter is NAME=LEAST:MOST, with @START at its end where the search begins.
The program is everything after "--"; {NAME} stands for the value.)";

constexpr unsigned k_most_repetitions = 1000;  // more is a typing error
constexpr unsigned k_most_trials = 1'000'000;
constexpr std::size_t k_shown_output = 2000;  // bytes of a program that failed

struct tune_options {
    parameter_words parameters{};
    std::vector<std::string> program{};
    std::string strategy{};
    unsigned repetitions = 3;
    unsigned pairs = 5;
    std::optional<unsigned> trials{};
    unsigned seed = 1;
    std::string time{};
    std::string timeout{};
    std::string cut = "1.5";
    std::string csv{};
    std::string json{};
};

adaptation::strategy strategy_of(const std::string& name, std::size_t parameters) {
    using adaptation::strategy;
    if (name.empty()) {
        return parameters == 1 ? strategy::hill_climbing : strategy::nelder_mead;
    }
    std::vector<std::string_view> usable;
    for (const strategy each :
         {strategy::exhaustive, strategy::random, strategy::hill_climbing, strategy::nelder_mead,
          strategy::parallel_rank_order, strategy::simulated_annealing}) {
        usable.push_back(adaptation::name_of(each));
    }
    if (std::find(usable.begin(), usable.end(), name) == usable.end()) {
        throw usage_error(fmt::format("quern tune: --strategy is '{}'; {}", name,
                                      quern::detail::accepted_values(name, usable)));
    }
    return adaptation::strategy_named(name);
}

std::optional<std::regex> pattern_of(const std::string& text) {
    if (text.empty()) {
        return std::nullopt;
    }
    constexpr const char* k_accepted =
        "accepted: a regular expression with a group for the number, such as 'time: ([0-9.]+)'";
    try {
        std::regex made(text);
        if (made.mark_count() > 0) {
            return made;
        }
    } catch (const std::regex_error& error) {
        throw usage_error(
            fmt::format("quern tune: --time is '{}', which is no regular expression: "
                        "{}; {}",
                        text, error.what(), k_accepted));
    }
    throw usage_error(
        fmt::format("quern tune: --time is '{}', which has no group; {}", text, k_accepted));
}

double cut_of(const std::string& text) {
    const double factor = positive_number("--cut", text);
    if (factor < 1) {
        throw usage_error(
            fmt::format("quern tune: --cut is '{}'; accepted: a factor from 1 on", text));
    }
    return factor;
}

tune_plan plan_of(const tune_options& options) {
    tune_plan plan;
    plan.parameters = parameters_of(options.parameters);
    plan.program = program_of(options.program, plan.parameters);
    if (plan.parameters.empty()) {
        throw usage_error(
            "quern tune: no parameter; accepted: --integer, --size, --power-of-two, "
            "--real, --choice; for instance: --integer x=1:100");
    }
    plan.strategy = strategy_of(options.strategy, plan.parameters.size());
    plan.repetitions = options.repetitions;
    plan.pairs = options.pairs;
    plan.most_trials = options.trials.value_or(0);
    plan.seed = options.seed;
    plan.cost = pattern_of(options.time);
    plan.cut = cut_of(options.cut);
    if (!options.timeout.empty()) {
        plan.timeout_s = positive_number("--timeout", options.timeout);
    }
    reading_settings([&] {  // what the strategy cannot search
        return adaptation::tuner(adaptation::space(plan.parameters), plan.strategy);
    });
    return plan;
}

void write(const std::string& file, std::ios::openmode mode, const std::string& text) {
    std::ofstream out(file, std::ios::binary | mode);
    out << text;
    if (!out.flush()) {
        throw std::runtime_error(
            fmt::format("'{}' cannot be written: {}", file, std::strerror(errno)));
    }
}

/// Replaces a file whole. One that cannot be replaced (a pipe, a terminal) gets its text at the
/// end.
void replace_file(const std::string& file, const std::string& text, bool is_over) {
    std::error_code failed;
    const fs::path target = fs::canonical(file, failed);
    if (fs::is_regular_file(target, failed) && ::access(target.parent_path().c_str(), W_OK) == 0) {
        const std::string part = target.string() + ".part";
        write(part, std::ios::trunc, text);
        fs::permissions(part, fs::status(target).permissions());
        fs::rename(part, target);
    } else if (is_over) {
        write(file, std::ios::trunc, text);
    }
}

void check_files(const tune_options& options) {
    for (const std::string& file : {options.csv, options.json}) {
        if (!file.empty()) {
            write(file, std::ios::app, "");
        }
    }
}

/// After each run, so that a search that is killed leaves what it has measured.
void write_files(const tune_options& options, const tune_plan& plan, const tune_result& result,
                 bool is_over) {
    if (!options.csv.empty()) {
        replace_file(options.csv, tune_as_csv(plan, result), is_over);
    }
    if (!options.json.empty()) {
        replace_file(options.json, tune_as_json(plan, result), is_over);
    }
}

std::string last_lines(const std::string& output) {
    if (output.empty()) {
        return "it has printed nothing\n";
    }
    const std::size_t begin = output.size() - std::min(output.size(), k_shown_output);
    const std::size_t line = begin == 0 ? 0 : output.find('\n', begin) + 1;  // 0 if there is none
    return "the end of its output:\n" + output.substr(line == 0 ? begin : line) +
           (output.ends_with('\n') ? "" : "\n");
}

int tune(const tune_options& options) {
    const tune_plan plan = plan_of(options);
    check_files(options);  // before the runs, which may take hours
    const auto after_each = [&](const std::string& line, const tune_result& so_far) {
        fmt::print(stderr, "{}\n", line);
        write_files(options, plan, so_far, false);
    };
    const tune_result result = tool::search(plan, after_each);
    write_files(options, plan, result, true);
    if (!result.failure.empty()) {
        fmt::print(stderr, "quern tune: the program does not work at the start, {}: {}; {}",
                   result.start.text(), result.failure, last_lines(result.output));
        return k_failure;
    }
    fmt::print("{}", tune_as_text(plan, result));
    if (result.signal != 0) {
        return 128 + result.signal;  // as shells do
    }
    return result.best(plan.repetitions) != nullptr ? k_success : k_failure;
}

void add_parameters(cli::command& tune, parameter_words& words) {
    tune.add("--integer", words.integer, "A whole number").type("x=LEAST:MOST[:STEP]");
    tune.add("--size", words.size, "A whole number; the search sees ratios")
        .type("x=LEAST:MOST[:STEP]");
    tune.add("--power-of-two", words.power_of_two, "1, 2, 4, …").type("x=LEAST:MOST");
    tune.add("--real", words.real, "A number").type("x=LEAST:MOST");
    tune.add("--choice", words.choice, "A word").type("x=WORD,WORD");
}

void add_search(cli::command& tune, tune_options& options) {
    tune.add("--strategy", options.strategy,
             "How to search: exhaustive, random, hill-climbing, nelder-mead, parallel-rank-order, "
             "simulated-annealing; without it, hill-climbing for one parameter, else nelder-mead")
        .type("NAME");
    tune.add("--repetitions", options.repetitions, "Runs of each point; its cost is their median")
        .type("N")
        .in_range(1u, k_most_repetitions)
        .shows_default();
    tune.add("--pairs", options.pairs,
             "Runs of the best point and the start, alternately, after the search")
        .type("N")
        .in_range(0u, k_most_repetitions)
        .shows_default();
    tune.add("--trials", options.trials, "Most runs of the search")
        .type("N")
        .in_range(1u, k_most_trials);
    tune.add("--seed", options.seed, "Of what is random in a search").type("N").shows_default();
}

}  // namespace

void add_tune(cli::command& quern, action& chosen, const std::vector<std::string>& program) {
    const auto options = std::make_shared<tune_options>();
    options->program = program;
    cli::command tune_command = quern.subcommand(
        "tune", "Find good arguments for a program: quern tune [options] -- program {x}");
    tune_command.keep_unknown();
    tune_command.footer(k_examples);
    add_parameters(tune_command, options->parameters);
    add_search(tune_command, *options);
    tune_command
        .add("--time", options->time,
             "Take the cost from the program's output: the group of this regular expression, in "
             "the first line that matches; without it, the wall time")
        .type("REGEX");
    tune_command.add("--timeout", options->timeout, "Stop a run after so long: it does not work")
        .type("SECONDS");
    tune_command
        .add("--cut", options->cut,
             "Stop a run after so many times the best median; not with --time")
        .type("FACTOR")
        .shows_default();
    tune_command.add("--csv", options->csv, "Write every run there").type("FILE");
    tune_command.add("--json", options->json, "Write everything there").type("FILE");
    tune_command.when_parsed([options, &chosen] { chosen = [options] { return tune(*options); }; });
}

}  // namespace quern::tool
