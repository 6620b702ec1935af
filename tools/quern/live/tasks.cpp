// SPDX-License-Identifier: BSL-1.0
// `quern tasks`: which tasks of a running program wait, for what, and which task holds that. It
// explains a hang without stopping the program.
#include "command.hpp"
#include "live/program.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

namespace quern::tool {

namespace {

constexpr const char* k_examples = R"(Examples:
  quern tasks                 of the only program that runs
  quern tasks 4711            of a process
  quern tasks heat            of a program by name, or of all its ranks on this machine)";

int show(const std::string& program) {
    const std::vector<found_program> found = find_programs("tasks", program);
    for (const found_program& each : found) {
        const json_value answer = ask_program(each.number, "tasks");
        fmt::print("{}{}", found.size() > 1 ? heading_of(each) : "", answer.value("tasks", ""));
    }
    return k_success;
}

}  // namespace

void add_tasks(cli::command& quern, action& chosen) {
    const auto program = std::make_shared<std::string>();
    cli::command tasks =
        quern.subcommand("tasks", "Show which tasks of a running program wait, and for what");
    tasks.keep_unknown();
    tasks.footer(k_examples);
    tasks
        .add("program", *program,
             "The number of its process, or its name; not needed while there is only one program, "
             "or one MPI job, whose ranks are then shown one after the other")
        .type("");
    tasks.when_parsed([program, &chosen] { chosen = [program] { return show(*program); }; });
}

}  // namespace quern::tool
