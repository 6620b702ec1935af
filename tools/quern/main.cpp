// SPDX-License-Identifier: BSL-1.0
// The command `quern`: finds the subcommand and reports a mistake on the command line in one
// sentence with the nearest match. The subcommands' own files do the work.
#include "child/run_of_a_study.hpp"
#include "command.hpp"
#include "job/rank_keeper.hpp"
#include "run/study.hpp"

#include <quern/adaptation/detail/settings.hpp>
#include <quern/base/detail/nearest_match.hpp>
#include <quern/counters/detail/settings.hpp>
#include <quern/dependences/detail/attach.hpp>
#include <quern/settings/settings.hpp>
#include <quern/trace/detail/settings.hpp>
#include <quern/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace quern::tool {

namespace {

constexpr const char* k_examples = R"(Examples:
  quern info                  the machine, the limits, the number of workers and why
  quern top                   what the workers of a running program do
  quern tasks 4711            which of its tasks wait, and for what
  quern decisions 4711        what its tuners and policies have changed, and why
  quern counters read 4711 '/threads/time/*' --interval 1000
  quern run --report run.html --counters '/threads/*' -- ./fib --n 30
  quern run -n 4 -- ./ring    four MPI ranks
  quern trace merge run.*.pftrace -o job.pftrace
                              their traces in one, with arrows for messages
  quern grain --from 1e3 --to 1e6 -- heat --partition {partition}
                              how large tasks should be, by runs with many sizes
  quern tune --size p=1000:1e7@100000 -- heat --partition {p}
                              which argument is best, by a search

quern SUBCOMMAND --help shows more of each.)";

[[noreturn]] void reject(const std::string& word, const std::string& what,
                         const std::vector<std::string>& accepted) {
    const std::vector<std::string_view> candidates(accepted.begin(), accepted.end());
    const std::string bare = word.substr(0, word.find('='));
    throw usage_error(
        fmt::format("{} '{}'; {}", what, word, quern::detail::accepted_values(bare, candidates)));
}

/// Turns words that the parser did not understand into an error that names the accepted words.
void reject_leftovers(const cli::command& app) {
    for (const cli::command& sub : app.named_subcommands()) {
        std::vector<std::string> left = sub.rest();
        std::erase(left, "--");  // kept when a program and its arguments follow
        const bool is_a_program = sub.keeps_program() && !left.empty() && !left[0].starts_with('-');
        if (!left.empty() && !is_a_program) {
            const char* const what =
                left[0].starts_with('-') ? "unknown option" : "unexpected argument";
            reject(left[0], fmt::format("quern {}: {}", sub.name(), what), sub.option_names());
        }
    }
    const std::vector<std::string> left = app.rest();
    if (!left.empty() && left[0].starts_with('-')) {
        reject(left[0], "quern: unknown option", app.option_names());
    }
    if (!left.empty()) {
        reject(left[0], "quern: unknown subcommand", app.subcommand_names());
    }
}

/// The words after "--" on the command line of `quern run` and `quern tune`: the program's, not
/// parsed here.
std::vector<std::string> take_program(int& argc, char** argv) {
    std::vector<std::string> words;
    const std::string_view subcommand = argc > 1 ? argv[1] : "";
    if (subcommand == "run" || subcommand == "tune") {
        char** const end = argv + argc;
        char** const dashes = std::find_if(
            argv, end, [](const char* word) { return std::string_view(word) == "--"; });
        words.assign(std::min(dashes + 1, end), end);
        argc = static_cast<int>(dashes - argv);
    }
    return words;
}

int run(int argc, char** argv) {
    if (argc == 3 && argv[1] == k_rank_keeper) {
        return keep_rank(argv[2]);
    }
    if (argc > 2 && argv[1] == k_run_of_a_study) {
        return run_for_a_study(argv[2], argv + 3);
    }
    const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    if (!reading_settings([&] { return take_command_line(argc, argv); })) {
        return k_success;
    }
    if (argc > 1 && is_study(argv[1])) {
        run_study(words);
    }
    const std::vector<std::string> program = take_program(argc, argv);
    cli::command_line app("Tools around Quern, a task-parallel runtime.", "quern");
    action chosen;
    app.version_flag("--version", "quern " QUERN_VERSION_STRING);
    app.footer(k_examples);
    app.keep_unknown();
    add_info(app, chosen);
    add_top(app, chosen);
    add_studies(app);
    add_tasks(app, chosen);
    add_counters(app, chosen);
    add_decisions(app, chosen);
    add_run(app, chosen, program);
    add_trace(app, chosen);
    add_tune(app, chosen, program);
    try {
        if (const auto status = app.parse(argc, argv)) {
            return *status;
        }
    } catch (const cli::parse_error& error) {
        throw usage_error(fmt::format("quern: {}", error.what()));
    }
    reject_leftovers(app);
    if (!chosen) {
        fmt::print(stderr, "{}", app.help());
        return k_usage;
    }
    return chosen();
}

}  // namespace

}  // namespace quern::tool

int main(int argc, char** argv) {
    try {
        quern::counters::detail::add_settings();
        quern::trace::detail::add_settings();
        quern::adaptation::detail::add_settings();
        quern::detail::attach_dependences();
        return cli::status_with_output("quern", quern::tool::run(argc, argv),
                                       quern::tool::k_failure);
    } catch (const quern::tool::usage_error& error) {
        fmt::print(stderr, "{}\nTry 'quern --help'.\n", error.what());
        return quern::tool::k_usage;
    } catch (const std::exception& error) {
        fmt::print(stderr, "quern: {}\n", error.what());
        return quern::tool::k_failure;
    }
}
