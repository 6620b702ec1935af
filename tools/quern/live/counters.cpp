// SPDX-License-Identifier: BSL-1.0
// `quern counters`: lists, describes and reads the performance counters of a running program.
#include "command.hpp"
#include "live/program.hpp"

#include <quern/base/detail/nearest_match.hpp>
#include <quern/counters/format.hpp>
#include <quern/counters/name.hpp>
#include <quern/topology/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <iterator>
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
  quern counters read jacobi.mpich '/mpi/count/*;/threads{locality#1/total}/idle-rate'
                                            of all ranks of a job, and of rank 1
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

/// A process whose counters are read. In it its own names are those of locality 0.
class source {
public:
    source(const found_program& of, const counters_options& options)
        : m_number(of.number),
          m_rank(of.place ? of.place->rank : 0),
          m_patterns(of.place ? own_patterns(options.patterns, m_rank) : options.patterns),
          m_request((options.since_last ? "since " : "counters ") + m_patterns),
          m_with(of.number) {}

    /// Whether any of the names may be its.
    bool is_meant() const { return !m_patterns.empty(); }

    json_value ask() { return ask_program(m_with, m_number, m_request); }

    std::vector<counters::snapshot> snapshots_of(const json_value& answer) const {
        std::vector<counters::snapshot> all;
        for (const json_value& runtime : items_of(answer, "runtimes")) {
            counters::snapshot& seen = all.emplace_back(snapshot_of(runtime));
            for (counters::counter_value& each : seen.values) {
                each.name = with_locality(std::move(each.name), k_own, own_name(m_rank));
            }
        }
        return all;
    }

private:
    static constexpr std::string_view k_locality = "locality#";
    static constexpr std::string_view k_own = "locality#0";

    static std::string own_name(int rank) { return fmt::format("{}{}", k_locality, rank); }

    /// Where a text names this locality, and not one whose number begins alike.
    static std::size_t find_locality(std::string_view text, std::string_view name,
                                     std::size_t at = 0) {
        constexpr std::string_view k_digits = "0123456789";
        for (at = text.find(name, at); at != std::string_view::npos; at = text.find(name, at + 1)) {
            const std::string_view next = text.substr(at + name.size(), 1);
            if (next.empty() || k_digits.find(next) == std::string_view::npos) {
                break;
            }
        }
        return at;
    }

    static std::string with_locality(std::string text, std::string_view from, std::string_view to) {
        for (std::size_t at = find_locality(text, from); at != std::string::npos;
             at = find_locality(text, from, at + to.size())) {
            text.replace(at, from.size(), to);
        }
        return text;
    }

    /// Those that name no locality, every one, or this one.
    static std::string own_patterns(const std::string& patterns, int rank) {
        std::string own;
        for (const std::string_view each : topology::detail::split(patterns, ';')) {
            const std::size_t at = each.find(k_locality);
            if (at == std::string_view::npos || each.substr(at + k_locality.size(), 1) == "*" ||
                find_locality(each, own_name(rank)) != std::string_view::npos) {
                own += own.empty() ? "" : ";";
                own += with_locality(std::string(each), own_name(rank), k_own);
            }
        }
        return own;
    }

    pid_t m_number;
    int m_rank;
    std::string m_patterns;
    std::string m_request;
    counters::conversation m_with;
};

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

using sources_type = std::vector<std::unique_ptr<source>>;

sources_type sources_of(const counters_options& options, counters::print_format format) {
    const std::vector<found_program> found = find_programs("counters", options.program);
    if (found.size() > 1 && format == counters::print_format::openmetrics) {
        throw usage_error(
            "quern counters: --format openmetrics is for one process; say its number");
    }
    sources_type sources;
    for (const found_program& each : found) {
        auto one = std::make_unique<source>(each, options);
        if (one->is_meant()) {
            sources.push_back(std::move(one));
        }
    }
    if (sources.empty()) {
        throw usage_error(fmt::format(
            "quern counters: '{}' are counters of no rank of this job; there are the localities "
            "{} to {} on this machine",
            options.patterns, found.front().place->rank, found.back().place->rank));
    }
    return sources;
}

std::vector<json_value> next_answers(const sources_type& sources) {
    std::vector<json_value> answers;
    for (const auto& each : sources) {
        answers.push_back(each->ask());
    }
    return answers;
}

/// Statistics are sampled from the first query on, so this asks until they have samples.
std::vector<json_value> first_answers(const sources_type& sources, unsigned sampled_ms) {
    constexpr auto k_late = std::chrono::seconds(1);  // grace for a sample on a busy machine
    constexpr auto k_pause = std::chrono::milliseconds(10);
    std::vector<json_value> answers = next_answers(sources);
    if (sampled_ms == 0) {
        return answers;
    }
    const auto now = std::chrono::steady_clock::now();
    const auto deadline = now + std::chrono::milliseconds(sampled_ms) + k_late;
    std::this_thread::sleep_until(now + std::chrono::milliseconds(sampled_ms));
    for (std::size_t i = 0; i < sources.size(); ++i) {
        while (answers[i] = sources[i]->ask(), !is_all_there(answers[i])) {
            if (std::chrono::steady_clock::now() > deadline) {
                break;
            }
            std::this_thread::sleep_for(k_pause);
        }
    }
    return answers;
}

/// Of a job one reading has the counters of all its ranks.
void print_reading(std::vector<counters::snapshot> all, bool is_job, unsigned sequence,
                   counters::print_format format) {
    if (is_job && !all.empty()) {
        for (std::size_t i = 1; i < all.size(); ++i) {
            std::move(all[i].values.begin(), all[i].values.end(),
                      std::back_inserter(all.front().values));
        }
        all.resize(1);
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

int read_counters(const counters_options& options) {
    const counters::print_format format =
        reading_settings([&] { return counters::parse_print_format(options.format); });
    const bool is_until_end = options.count == 0 && options.interval_ms != 0;
    const unsigned rounds = options.count != 0 ? options.count : is_until_end ? ~0U : 1;
    const unsigned first_ms = waits_ms(options, rounds);
    const sources_type sources = sources_of(options, format);
    const auto print = [&](const std::vector<json_value>& answers, unsigned sequence) {
        std::vector<counters::snapshot> all;
        for (std::size_t i = 0; i < sources.size(); ++i) {
            for (counters::snapshot& seen : sources[i]->snapshots_of(answers[i])) {
                all.push_back(std::move(seen));
            }
        }
        print_reading(std::move(all), sources.size() > 1, sequence, format);
    };
    print(first_answers(sources, first_ms), 1);
    auto due = std::chrono::steady_clock::now();
    for (unsigned round = 1; round < rounds; ++round) {
        due += std::chrono::milliseconds(options.interval_ms);
        std::this_thread::sleep_until(due);
        try {
            print(next_answers(sources), round + 1);
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
        throw usage_error("quern counters: --interval and --count are only for read");
    }
    if (options.count > 1 && options.interval_ms == 0) {
        throw usage_error("quern counters: --count wants --interval");
    }
    return options.verb == "read"
               ? read_counters(options)
               : show_list(options, find_programs("counters", options.program).front().number);
}

}  // namespace

void add_counters(cli::command& quern, action& chosen) {
    const auto options = std::make_shared<counters_options>();
    cli::command sub = quern.subcommand(
        "counters", "List, describe or read performance counters of a running program");
    sub.keep_unknown();
    sub.footer(k_examples);
    sub.add("request", options->verb, "list, describe or read").type("").required();
    sub.add(
           "program", options->program,
           "The number of its process, or its name; not needed while there is only one program, or "
           "one MPI job, whose ranks are then read together")
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
