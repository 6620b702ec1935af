// SPDX-License-Identifier: BSL-1.0
// `quern decisions`: what the tuners and policies of a running program have changed, and why.
#include "command.hpp"
#include "live/program.hpp"

#include <quern/base/detail/text.hpp>

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace quern::tool {

namespace {

constexpr const char* k_examples = R"(Examples:
  quern decisions             of the only program that runs
  quern decisions heat        of a program by name, or of all its ranks on this machine
  quern decisions 4711 --json)";

void print(const json_value& answer) {
    const json_value& all = answer.at("decisions");
    for (const json_value& each : all) {
        fmt::print("{:>10}  {}\n", quern::detail::duration_words(each.at("time_ns").get<double>()),
                   each.value("text", ""));
    }
    if (all.empty()) {
        fmt::print("no decisions yet\n");
    }
}

int show(const std::string& program, bool as_json) {
    const std::vector<found_program> found = find_programs("decisions", program);
    const bool is_job = found.size() > 1;
    json_value of_all = json_value::array();
    for (const found_program& each : found) {
        json_value answer = ask_program(each.number, "decisions");
        if (!as_json) {
            fmt::print("{}", is_job ? heading_of(each) : "");
            print(answer);
        } else if (is_job) {
            answer["rank"] = each.place->rank;
            of_all.push_back(std::move(answer));
        } else {
            of_all = std::move(answer);
        }
    }
    if (as_json) {
        fmt::print("{}\n", of_all.dump());
    }
    return k_success;
}

}  // namespace

void add_decisions(cli::command& quern, action& chosen) {
    const auto program = std::make_shared<std::string>();
    const auto as_json = std::make_shared<bool>(false);
    cli::command decisions = quern.subcommand(
        "decisions", "Show what tuners and policies of a running program have changed, and why");
    decisions.keep_unknown();
    decisions.footer(k_examples);
    decisions
        .add("program", *program,
             "The number of its process, or its name; not needed while there is only one program, "
             "or one MPI job, whose ranks are then shown one after the other")
        .type("");
    decisions.add_flag("--json", *as_json,
                       "The whole answer of the program; of a job, an array of those of its ranks");
    decisions.when_parsed([program, as_json, &chosen] {
        chosen = [program, as_json] { return show(*program, *as_json); };
    });
}

}  // namespace quern::tool
