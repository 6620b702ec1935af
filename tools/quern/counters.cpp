// SPDX-License-Identifier: BSL-1.0
// `quern counters`: lists, describes and reads the performance counters of a running program.
#include "command.hpp"
#include "program.hpp"

#include <quern/base/detail/nearest_match.hpp>
#include <quern/counters/format.hpp>
#include <quern/counters/name.hpp>
#include <quern/topology/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace quern::tool {

namespace {

constexpr unsigned k_longest_interval_ms = 86'400'000;
constexpr unsigned k_longest_wait_ms = 10'000;  // of a single reading, for a sample
constexpr const char* k_examples = R"(Examples:
  quern counters list                       the names of all kinds of counters
  quern counters list heat '/threads{*}/idle-rate'
                                            those of the workers, pools and the whole
  quern counters describe '/threads/time/*' kind, unit and meaning
  quern counters describe /statistics       what can be made of them
  quern counters read 4711 '/threads/count/*;/runtime/uptime'
                                            values since the program's start
  quern counters read heat '/threads/idle-rate' --interval 1000 --since-last
                                            second by second, until it ends
  quern counters read '/statistics{/threads/idle-rate}/max@100' --format json
                                            waits for the first sample)";
constexpr std::array<std::string_view, 3> k_verbs{"list", "describe", "read"};

struct counters_options {
    std::string verb;
    std::string program;
    std::string patterns;  ///< several separated by ';'
    std::string format = "text";
    unsigned interval_ms = 0;
    unsigned count = 0;
    bool since_last = false;
};

counters::counter_kind kind_of(const std::string& word) {
    return word == "sum"     ? counters::counter_kind::sum
           : word == "ratio" ? counters::counter_kind::ratio
                             : counters::counter_kind::level;
}

counters::source_state state_of(const std::string& word) {
    return word == "denied"    ? counters::source_state::denied
           : word == "stuck"   ? counters::source_state::stuck
           : word == "not-yet" ? counters::source_state::not_yet
                               : counters::source_state::absent;
}

counters::snapshot snapshot_of(const json_value& runtime) {
    counters::snapshot seen;
    seen.time_s = runtime.value("time_s", 0.0);
    for (const json_value& each : items_of(runtime, "values")) {
        counters::counter_value& value = seen.values.emplace_back();
        value.name = each.value("name", "");
        value.unit = each.value("unit", "");
        value.kind = kind_of(each.value("kind", ""));
        if (has(each, "value")) {
            value.value = each.value("value", 0.0);
        } else {
            value.state = state_of(each.value("state", ""));
            value.why = each.value("why", "");
        }
    }
    return seen;
}

int show_list(const counters_options& options, pid_t program) {
    const json_value answer = ask_program(program, "list " + options.patterns);
    std::vector<counters::counter_info> found;
    for (const json_value& each : items_of(answer, "counters")) {
        counters::counter_info& info = found.emplace_back();
        info.name = each.value("name", "");
        info.kind = kind_of(each.value("kind", ""));
        info.unit = each.value("unit", "");
        info.help = each.value("help", "");
    }
    fmt::print("{}", counters::listed(found, options.verb == "describe"));
    return k_success;
}

/// Milliseconds until each statistic among these counters has a sample; 0: there is none. Malformed
/// names are left to the program, which rejects them.
unsigned until_sampled_ms(const std::vector<std::string>& names) try {
    constexpr unsigned k_unless_said = 1000;
    unsigned longest = 0;
    for (const std::string& each : names) {
        const counters::counter_name name = counters::parse_name(each);
        if (name.object == "arithmetics") {
            longest = std::max(longest, until_sampled_ms(counters::split_names(name.parameters)));
        } else if (name.object == "statistics") {
            unsigned interval = k_unless_said;
            std::from_chars(name.parameters.data(), name.parameters.data() + name.parameters.size(),
                            interval);
            longest = std::max(longest, interval);
        }
    }
    return longest;
} catch (const std::invalid_argument&) {
    return 0;
}

bool is_all_there(const json_value& answer) {
    for (const json_value& runtime : items_of(answer, "runtimes")) {
        for (const json_value& value : items_of(runtime, "values")) {
            if (!has(value, "value")) {
                return false;
            }
        }
    }
    return true;
}

/// Statistics are sampled from the first query on, so this asks until they have samples.
json_value first_answer(counters::conversation& with, pid_t program, const std::string& request,
                        unsigned sampled_ms) {
    constexpr auto k_late = std::chrono::seconds(1);  // grace for a sample on a busy machine
    constexpr auto k_pause = std::chrono::milliseconds(10);
    json_value answer = ask_program(with, program, request);
    if (sampled_ms == 0) {
        return answer;
    }
    const auto now = std::chrono::steady_clock::now();
    const auto deadline = now + std::chrono::milliseconds(sampled_ms) + k_late;
    std::this_thread::sleep_until(now + std::chrono::milliseconds(sampled_ms));
    while (answer = ask_program(with, program, request), !is_all_there(answer)) {
        if (std::chrono::steady_clock::now() > deadline) {
            break;
        }
        std::this_thread::sleep_for(k_pause);
    }
    return answer;
}

/// How long to wait for the samples of statistics before the first reading.
unsigned waits_ms(const counters_options& options, unsigned rounds) {
    const auto patterns = topology::detail::split(options.patterns, ';');
    const unsigned sampled_ms = until_sampled_ms({patterns.begin(), patterns.end()});
    if (sampled_ms > k_longest_wait_ms && rounds == 1) {
        throw usage_error(fmt::format(
            "quern counters: a statistic that is sampled every {} ms has no value before, and "
            "a single reading waits no longer than {} ms; read again and again: --interval {}",
            sampled_ms, k_longest_wait_ms, sampled_ms));
    }
    return sampled_ms > k_longest_wait_ms ? 0 : sampled_ms;
}

void print_reading(const json_value& answer, unsigned sequence, counters::print_format format) {
    std::vector<counters::snapshot> all;
    for (const json_value& runtime : items_of(answer, "runtimes")) {
        all.push_back(snapshot_of(runtime));
    }
    if (format == counters::print_format::openmetrics) {
        fmt::print("{}", counters::as_openmetrics(all));
        all.clear();
    }
    for (const counters::snapshot& seen : all) {
        fmt::print("{}{}", sequence == 1 ? counters::header_of(seen, format) : "",
                   counters::formatted(seen, sequence, format));
    }
    std::fflush(stdout);
}

int read_counters(const counters_options& options, pid_t program) {
    const counters::print_format format =
        reading_settings([&] { return counters::parse_print_format(options.format); });
    const bool is_until_end = options.count == 0 && options.interval_ms != 0;
    const unsigned rounds = options.count != 0 ? options.count : is_until_end ? ~0U : 1;
    const unsigned first_ms = waits_ms(options, rounds);
    counters::conversation with(program);
    const std::string request = (options.since_last ? "since " : "counters ") + options.patterns;
    print_reading(first_answer(with, program, request, first_ms), 1, format);
    auto due = std::chrono::steady_clock::now();
    for (unsigned round = 1; round < rounds; ++round) {
        due += std::chrono::milliseconds(options.interval_ms);
        std::this_thread::sleep_until(due);
        try {
            print_reading(ask_program(with, program, request), round + 1, format);
        } catch (const counters::program_ended&) {
            if (is_until_end) {
                return k_success;
            }
            throw;
        }
    }
    return k_success;
}

void check_verb(const std::string& verb) {
    for (const std::string_view each : k_verbs) {
        if (verb == each) {
            return;
        }
    }
    throw usage_error(fmt::format("quern counters: unknown request '{}'; {}", verb,
                                  quern::detail::accepted_values(verb, k_verbs)));
}

int show_counters(counters_options options) {
    check_verb(options.verb);
    if (options.program.starts_with('/')) {  // only one program: its name may be left out
        options.patterns = std::exchange(options.program, "");
    }
    if (options.verb == "read" && options.patterns.empty()) {
        throw usage_error(
            "quern counters: read wants the counters by name, with * and ? where several are "
            "meant, such as '/threads/*'");
    }
    if (options.verb != "read" && (options.interval_ms != 0 || options.count != 0)) {
        throw usage_error("quern counters: --interval and --count are for read alone");
    }
    if (options.count > 1 && options.interval_ms == 0) {
        throw usage_error("quern counters: --count wants --interval");
    }
    const pid_t program = find_program("counters", options.program);
    return options.verb == "read" ? read_counters(options, program) : show_list(options, program);
}

}  // namespace

void add_counters(cli::command& quern, action& chosen) {
    const auto options = std::make_shared<counters_options>();
    cli::command sub = quern.subcommand(
        "counters", "List, describe or read performance counters of a running program");
    sub.keep_unknown();
    sub.footer(k_examples);
    sub.add("request", options->verb, "list, describe or read").type("").required();
    sub.add("program", options->program,
            "The number of its process, or its name; not needed while there is only one")
        .type("");
    sub.add("counters", options->patterns,
            "Names, with * and ?, several separated by ';', such as '/threads/time/*'")
        .type("");
    sub.add("--interval", options->interval_ms, "Read again after so many milliseconds")
        .type("MS")
        .in_range(1u, k_longest_interval_ms);
    sub.add("--count", options->count, "How often to read; without: until it ends")
        .type("N")
        .in_range(1u, ~0u - 1);
    sub.add_flag("--since-last", options->since_last,
                 "Count from the previous reading, not from the start of the program");
    sub.add("--format", options->format, "text, csv, csv-short, json or openmetrics").type("WORD");
    sub.when_parsed([options, &chosen] { chosen = [options] { return show_counters(*options); }; });
}

}  // namespace quern::tool
