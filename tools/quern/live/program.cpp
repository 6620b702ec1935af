// SPDX-License-Identifier: BSL-1.0
// Finds running programs and reads their answers.
#include "live/program.hpp"

#include "command.hpp"

#include <quern/base/detail/nearest_match.hpp>
#include <quern/topology/detail/text.hpp>
#include <quern/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

namespace quern::tool {

namespace {

using counters::cannot_ask;

struct candidate {
    pid_t number = 0;
    std::string name;
    std::string command;
};

/// A program that ends meanwhile, or gives an invalid answer, is left out.
std::vector<candidate> candidates() {
    std::vector<candidate> all;
    for (const pid_t number : counters::live_programs()) {
        try {
            const json_value hello = ask_program(number, "hello");
            all.push_back({number, hello.value("program", ""), hello.value("command", "")});
        } catch (const cannot_ask&) {
            all.push_back({number, "?", "(does not answer)"});
        } catch (const json_error&) {
            all.push_back({number, "?", "(answers strangely)"});
        }
    }
    return all;
}

std::string list_of(const std::vector<candidate>& all) {
    std::string text;
    for (const candidate& each : all) {
        text += fmt::format("\n  {:>7}  {}", each.number, each.command);
    }
    return text;
}

std::optional<pid_t> number_in(const std::string& wanted) {
    const auto number = topology::detail::parse_number<pid_t>(wanted);
    return number && *number > 0 ? number : std::nullopt;
}

[[noreturn]] void refuse_name(std::string_view subcommand, const std::string& wanted,
                              const std::vector<candidate>& all) {
    std::vector<std::string_view> names;
    names.reserve(all.size());
    for (const candidate& each : all) {
        names.push_back(each.name);
    }
    const std::string_view nearest = quern::detail::nearest_match(wanted, names);
    throw usage_error(
        fmt::format("quern {}: '{}' is no program that can be looked into{}{}", subcommand, wanted,
                    nearest.empty() ? std::string() : fmt::format("; did you mean '{}'?", nearest),
                    all.empty() ? "; there is none" : "; there are" + list_of(all)));
}

/// All that a user may mean by a name, or by nothing. Not empty.
std::vector<candidate> meant_by(std::string_view subcommand, const std::string& wanted) {
    std::vector<candidate> all = candidates();
    if (!wanted.empty()) {
        std::vector<candidate> named;
        std::copy_if(all.begin(), all.end(), std::back_inserter(named),
                     [&](const candidate& each) { return each.name == wanted; });
        if (named.empty()) {
            refuse_name(subcommand, wanted, all);
        }
        all = std::move(named);
    }
    if (all.empty()) {
        throw cannot_ask("no program of this user can be looked into at present");
    }
    return all;
}

/// Whether they are different ranks of one job; in their order then.
bool are_one_job(std::vector<found_program>& all) {
    if (!std::all_of(all.begin(), all.end(), [&](const found_program& each) {
            return each.place && each.place->starter == all.front().place->starter;
        })) {
        return false;
    }
    const auto by_rank = [](const found_program& a, const found_program& b) {
        return a.place->rank < b.place->rank;
    };
    std::sort(all.begin(), all.end(), by_rank);
    return std::adjacent_find(all.begin(), all.end(),
                              [](const found_program& a, const found_program& b) {
                                  return a.place->rank == b.place->rank;
                              }) == all.end();
}

}  // namespace

std::vector<found_program> find_programs(std::string_view subcommand, const std::string& wanted) {
    if (const auto number = number_in(wanted)) {
        return {{*number}};
    }
    const std::vector<candidate> all = meant_by(subcommand, wanted);
    std::vector<found_program> found;
    found.reserve(all.size());
    for (const candidate& each : all) {
        found.push_back({each.number, place_in_job(each.number)});
    }
    if (found.size() > 1 && !are_one_job(found)) {
        throw usage_error(fmt::format("quern {}: there are {} programs; say the number of one:{}",
                                      subcommand, all.size(), list_of(all)));
    }
    return found;
}

std::string heading_of(const found_program& rank) {
    return fmt::format("rank {} of {}, process {}:\n", rank.place->rank, rank.place->ranks,
                       rank.number);
}

json_value ask_program(pid_t program, std::string_view request) {
    counters::conversation with(program);
    return ask_program(with, program, request);
}

json_value ask_program(counters::conversation& with, pid_t program, std::string_view request) {
    json_value answer;
    try {
        answer = json_value::parse(with.ask(request));
    } catch (const json_error& error) {
        throw cannot_ask(fmt::format("program {} answers strangely: {}", program, error.what()));
    }
    if (answer.value("protocol", int{}) != counters::k_live_protocol) {
        throw cannot_ask(fmt::format(
            "program {} uses Quern {}, which speaks protocol {}; this is the quern of version "
            "{}, which speaks protocol {}: use the one of the program's version",
            program, answer.value("version", "of an unknown version"),
            answer.value("protocol", int{}), QUERN_VERSION_STRING, counters::k_live_protocol));
    }
    if (has(answer, "error")) {
        constexpr std::string_view k_ours = "quern: ";  // the printer adds this prefix again
        std::string why = answer.value("error", "");
        why.erase(0, why.starts_with(k_ours) ? k_ours.size() : 0);
        throw cannot_ask(fmt::format("program {} refuses: {}", program, why));
    }
    return answer;
}

}  // namespace quern::tool
