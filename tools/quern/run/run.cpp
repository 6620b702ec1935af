// SPDX-License-Identifier: BSL-1.0
// `quern run`: starts a program of Quern with settings given as options instead of environment
// variables. It becomes the program: process, input, output and exit status are the program's own.
// With -n it starts MPI ranks instead, and stays until they have ended (ranks.hpp).
#include "command.hpp"
#include "job/mpi_library.hpp"
#include "job/ranks.hpp"
#include "program/search_path.hpp"
#include "run/openmp.hpp"

#include <quern/base/detail/nearest_match.hpp>
#include <quern/settings/settings.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace quern::tool {

namespace {

namespace fs = std::filesystem;

constexpr const char* k_examples = R"(Examples:
  quern run --threads 4 --bind compact -- ./fib --n 30
  quern run --counters '/threads/idle-rate;/runtime/uptime' --interval 1000 -- ./fib --n 30
  quern run --report run.html --trace run.pftrace -- ./fib --n 30
                              a page that says where the time went, and a trace
  quern run --report run.html --task-events page-faults --trace-counters '/threads/idle-rate' -- ./fib
                              the page with events by kind of task and a counter over time
  quern run --calibrate -- ./fib --n 30
                              what tasks take alone, for the reports of later runs
  quern run --profile -- ./fib --n 30
                              statistics of each kind of task on stderr
  quern run --openmp -- ./program
                              a program that was compiled with -fopenmp, on Quern's workers
  quern run -n 4 -- ./ring    four MPI ranks, which share the CPUs
  quern run -n 2 --net 100mbit --trace 'run-%r.pftrace' -- ./ring
                              two, over a network of 100 Mbit/s; a trace of each)";

/// An option that stands for a setting.
struct forwarded {
    const char* option;
    const char* setting;
    const char* type;
    const char* help;
    const char* bare = nullptr;  ///< the value of the option without one
};

constexpr forwarded k_forwarded[] = {
    {"--threads", "threads", "N", "Workers"},
    {"--policy", "policy", "NAME", "Scheduling policy"},
    {"--bind", "bind", "NAME", "Where workers run"},
    {"--counters", "print-counter", "NAMES",
     "Print these counters at the end, such as '/threads/*'"},
    {"--interval", "print-counter-interval", "MS", "Print them every so many milliseconds too"},
    {"--format", "print-counter-format", "WORD", "text, csv, csv-short, json or openmetrics"},
    {"--destination", "print-counter-destination", "FILE", "Print them there"},
    {"--profile", "profile", "FILE", "Print statistics of each kind of task at the end", "stderr"},
    {"--trace", "trace", "FILE", "Record the run for ui.perfetto.dev"},
    {"--report", "report", "FILE", "Write a page that says where the time went"},
    {"--task-events", "task-events", "NAMES",
     "Count these by kind of task for profile, report and trace, such as page-faults"},
    {"--trace-counters", "trace-counters", "NAMES",
     "Draw these counters over time in report and trace"},
    {"--adapt", "adapt", "WORD", "Whether tuners and policies may act: off, dry-run or on"},
    {"--decisions", "decisions", "FILE", "Write what they decide there, and why", "stderr"},
    {"--tune-history", "tune-history", "FILE", "Keep tuned numbers there for the next run"},
    {"--metrics-port", "metrics-port", "PORT", "Serve counters as OpenMetrics text on 127.0.0.1"},
};

struct run_options {
    std::vector<std::pair<const forwarded*, std::shared_ptr<std::string>>> given;
    bool calibrate = false;
    std::optional<std::string> openmp{};  ///< the word, or an empty one
    rank_options ranks{};
    std::vector<std::string> command;
};

/// The error that the system would report, found before anything is printed about the run; formats
/// that the system does not know are not checked.
void require_program(const std::string& path) {
    std::error_code failed;
    int error = ::access(path.c_str(), X_OK) != 0 ? errno : 0;
    if (error == 0 && !fs::is_regular_file(path, failed)) {
        error = EACCES;
    }
    if (error != 0) {
        throw std::runtime_error(
            fmt::format("'{}' cannot be started: {}", path, std::strerror(error)));
    }
}

void set_variable(std::string_view setting, const std::string& value, const std::string& option) {
    for (const quern::setting& row : setting_table()) {
        if (row.name == setting) {
            reading_settings([&] {  // report mistakes before the program starts
                settings().set(setting, {value, setting_source::program, "option " + option});
            });
            ::setenv(row.variable().c_str(), value.c_str(), 1);
        }
    }
}

/// The program may run in another folder: paths must lead to the same file from there.
void set_calibration(const std::string& program) {
    std::error_code failed;
    const fs::path where = fs::canonical(program, failed);
    if (failed) {
        throw std::runtime_error(fmt::format("'{}': {}", program, failed.message()));
    }
    set_variable("threads", "1", "--calibrate");
    const std::string file = where.string() + ".quern-calibration";
    set_variable("calibration", file, "--calibrate");
    fmt::print(stderr, "quern: what tasks take on one worker will be kept in '{}'\n", file);
}

void require_library(const std::string& word) {
    const std::vector<std::string_view> accepted = mpi_words();
    if (std::find(accepted.begin(), accepted.end(), word) != accepted.end()) {
        return;
    }
    const std::string_view nearest = quern::detail::nearest_match(word, accepted);
    throw usage_error(
        fmt::format("quern run: --mpi is '{}'; accepted: {}{}", word, fmt::join(accepted, ", "),
                    nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest)));
}

void check_ranks(const run_options& options) {
    if (!options.ranks.count.empty()) {
        rank_count(options.ranks.count);
        if (options.calibrate) {
            throw usage_error("quern run: --calibrate measures one process; leave out -n");
        }
    } else if (!options.ranks.library.empty()) {
        throw usage_error("quern run: --mpi is for ranks; for instance: quern run -n 2 --mpi " +
                          options.ranks.library + " -- python3 program.py");
    } else if (!options.ranks.network.empty()) {
        throw usage_error("quern run: --net is for ranks; for instance: quern run -n 2 --net " +
                          options.ranks.network + " -- ./ring");
    }
}

int run_program(run_options& options) {
    check_ranks(options);
    if (options.command.empty()) {
        throw usage_error("quern run: the program is missing; for instance: quern run -- ./fib 30");
    }
    const std::string program = path_of(options.command.front());
    if (program.empty()) {
        throw std::runtime_error(
            fmt::format("there is no program '{}' in PATH", options.command.front()));
    }
    require_program(program);
    for (const auto& [row, value] : options.given) {
        set_variable(row->setting, *value, row->option);
    }
    if (options.calibrate) {
        set_calibration(program);
    }
    if (options.openmp) {
        use_openmp_library(*options.openmp);
    }
    if (!options.ranks.count.empty()) {
        return run_ranks(options.ranks, program, options.command);
    }
    std::vector<char*> arguments;
    for (std::string& each : options.command) {
        arguments.push_back(each.data());
    }
    arguments.push_back(nullptr);
    ::execv(program.c_str(), arguments.data());
    throw std::runtime_error(
        fmt::format("'{}' cannot be started: {}", program, std::strerror(errno)));
}

void add_forwarded(cli::command& run, const std::shared_ptr<run_options>& options) {
    for (const forwarded& row : k_forwarded) {
        const auto value = std::make_shared<std::string>();
        cli::option option = run.add(
                                    row.option,
                                    [options, &row, value](const std::string& text) {
                                        *value = text;
                                        options->given.emplace_back(&row, value);
                                    },
                                    row.help)
                                 .type(row.type);
        if (row.bare != nullptr) {
            option.value_may_be_missing().shows_default(row.bare);
        }
    }
}

}  // namespace

void add_run(cli::command& quern, action& chosen, const std::vector<std::string>& program) {
    const auto options = std::make_shared<run_options>();
    options->command = program;
    cli::command run = quern.subcommand(
        "run", "Start a program with settings: quern run [options] -- program [arguments]");
    run.keep_program();
    run.footer(k_examples);
    const auto take_count = [options](const std::string& text) {
        rank_count(text);
        options->ranks.count = text;
    };
    run.add("-n,--ranks", take_count,
            "Start so many MPI ranks, with the library that the program links; CPUs are divided "
            "among them")
        .type("N");
    const auto take_library = [options](const std::string& word) {
        require_library(word);
        options->ranks.library = word;
    };
    run.add("--mpi", take_library,
            "Their MPI library, mpich or openmpi, for a script or a program that loads it when it "
            "runs")
        .type("NAME");
    run.add("--net", options->ranks.network,
            "Give the ranks a network of this rate, such as 100mbit, and no shared memory")
        .type("RATE");
    add_forwarded(run, options);
    const auto take_openmp = [options](const std::string& word) { options->openmp = word; };
    run.add("--openmp", take_openmp,
            "Run a program that was compiled with -fopenmp on Quern: preload its library, or "
            "replace the program's own")
        .type("WAY")
        .value_may_be_missing()
        .shows_default("preload");
    run.add_flag("--calibrate", options->calibrate,
                 "Run on one worker and keep what tasks take, as <program>.quern-calibration: "
                 "reports of later runs then know how much longer tasks take beside others");
    run.when_parsed([run, options, &chosen] {
        if (options->command.empty()) {
            options->command = run.rest();
        }
        chosen = [options] { return run_program(*options); };
    });
}

}  // namespace quern::tool
