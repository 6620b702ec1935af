// SPDX-License-Identifier: BSL-1.0
// `quern top`: what the workers of a running program do, again and again. Asks the program for two
// snapshots and shows what has happened in between.
#include "command.hpp"
#include "program.hpp"
#include "top_frame.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

namespace quern::tool {

namespace {

constexpr unsigned k_longest_interval_ms = 3'600'000;
constexpr std::size_t k_text_width = 160;  // columns; places in the source are long

struct top_options {
    std::string program;
    unsigned interval_ms = 1000;
    bool once = false;
    bool json = false;
};

top_frame next_frame(pid_t program, unsigned interval_ms) {
    const json_value before = ask_program(program, "snapshot");
    std::this_thread::sleep_for(std::chrono::milliseconds(interval_ms));
    return make_frame(before, ask_program(program, "snapshot"));
}

int show_top(const top_options& options) {
    const pid_t program = find_program("top", options.program);
    const top_frame frame = next_frame(program, options.interval_ms);
    if (options.json) {
        fmt::print("{}", frame_as_json(frame));
    } else {
        fmt::print("{}\n", fmt::join(lines_of(frame, k_text_width), "\n"));
    }
    return k_success;
}

}  // namespace

void add_top(CLI::App& quern, action& chosen) {
    const auto options = std::make_shared<top_options>();
    CLI::App* const top = quern.add_subcommand("top", "Watch the workers of a running program");
    top->allow_extras();
    top->add_option("program", options->program,
                    "The number of its process, or its name; not needed while there is only one")
        ->type_name("");
    top->add_option("--interval", options->interval_ms, "Milliseconds between two looks")
        ->type_name("MS")
        ->check(CLI::Range(1u, k_longest_interval_ms).description(""));
    top->add_flag("--once", options->once, "Print what happened in one interval, and end")
        ->disable_flag_override();
    top->add_flag("--json", options->json, "The same as JSON")->disable_flag_override();
    top->callback([options, &chosen] { chosen = [options] { return show_top(*options); }; });
}

}  // namespace quern::tool
