// SPDX-License-Identifier: BSL-1.0
// `quern top`: shows repeatedly what the workers of a running program do, or the ranks of a job.
// Requests snapshots and shows their difference: on a screen if there is a terminal.
#include "command.hpp"
#include "live/program.hpp"
#include "top/job.hpp"
#include "top/screen.hpp"
#include "top/subject.hpp"
#include "top/watch.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace quern::tool {

namespace {

constexpr const char* k_examples = R"(Examples:
  quern top                   of the only program that runs
  quern top heat --interval 200
                              five times a second
  quern top 4711 --once       what happened in one second, as text
  quern top jacobi.openmpi    of a job: a line for each of its ranks on this machine
  quern top --json            the same, for programs)";

constexpr unsigned k_longest_interval_ms = 3'600'000;
constexpr std::size_t k_text_width = 160;  // columns; source locations are long

struct top_options {
    std::string program;
    unsigned interval_ms = 1000;
    bool once = false;
    bool json = false;
};

/// Prints frames as text until there is nothing to show any more.
int print_frames(top_subject& subject, const top_options& options) {
    for (;;) {
        subject.look_for(std::chrono::milliseconds(options.interval_ms));
        subject.renew();
        if (options.json) {
            fmt::print("{}", subject.as_json());
        } else {
            fmt::print("{}\n", fmt::join(subject.lines(top_order::rank, k_text_width), "\n"));
        }
        std::fflush(stdout);
        if (options.once || options.json) {
            return k_success;
        }
        fmt::print("\n");
    }
}

std::unique_ptr<top_subject> subject_of(const std::string& name) {
    const std::vector<found_program> found = find_programs("top", name);
    const auto& place = found.front().place;
    if (found.size() == 1 && (!place || place->ranks == 1)) {
        return std::make_unique<top_program>(found.front().number);
    }
    return std::make_unique<top_job>(found);
}

int show_top(const top_options& options) {
    const std::unique_ptr<top_subject> subject = subject_of(options.program);
    if (options.once || options.json || !has_screen()) {
        return print_frames(*subject, options);
    }
    const std::string why =
        watch_on_screen(*subject, std::chrono::milliseconds(options.interval_ms));
    if (!why.empty()) {
        fmt::print(stderr, "quern: {}\n", why);
    }
    return k_success;
}

}  // namespace

void add_top(cli::command& quern, action& chosen) {
    const auto options = std::make_shared<top_options>();
    cli::command top = quern.subcommand("top", "Watch the workers of a running program");
    top.keep_unknown();
    top.footer(k_examples);
    top.add(
           "program", options->program,
           "The number of its process, or its name; not needed while there is only one program, or "
           "one MPI job, whose ranks are then shown together")
        .type("");
    top.add("--interval", options->interval_ms, "Milliseconds between two looks")
        .type("MS")
        .in_range(1u, k_longest_interval_ms);
    top.add_flag("--once", options->once, "Print what happened in one interval, and end");
    top.add_flag("--json", options->json, "The same as JSON");
    top.when_parsed([options, &chosen] { chosen = [options] { return show_top(*options); }; });
}

}  // namespace quern::tool
