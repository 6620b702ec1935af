// SPDX-License-Identifier: BSL-1.0
// The table of settings, what each accepts, and the value type that keeps the strongest value of
// each. Reads nothing from outside; the sources do (settings_sources.cpp, settings_file.cpp).
#include <quern/scheduler/settings.hpp>

#include "settings_parts.hpp"

#include <quern/base/nearest_match.hpp>
#include <quern/context/stack_memory.hpp>
#include <quern/scheduler/policy.hpp>
#include <quern/scheduler/pool.hpp>
#include <quern/topology/binding.hpp>

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace quern {

namespace {

std::vector<std::string_view> policy_names() {
    std::vector<std::string_view> names;
    for (const scheduling_policy* policy : scheduling_policies()) {
        names.push_back(policy->name);
    }
    return names;
}

std::vector<std::string_view> binding_names() {
    std::vector<std::string_view> names;
    names.reserve(topology::k_named_policies.size());
    for (const topology::binding_policy policy : topology::k_named_policies) {
        names.push_back(name_of(policy));
    }
    return names;
}

std::vector<std::string_view> stack_names() {
    return {k_stack_class_names.begin(), k_stack_class_names.end()};
}

/// certain: when nothing in the process can wake a task any more.
std::vector<std::string_view> hang_report_words() { return {"certain", "off"}; }
std::vector<std::string_view> on_or_off() { return {"on", "off"}; }
std::vector<std::string_view> counter_formats() {
    return {"text", "csv", "csv-short", "json", "openmetrics"};
}
std::vector<std::string_view> counter_times() { return {"startup", "shutdown", "both"}; }
std::vector<std::string_view> list_sizes() { return {"no", "minimal", "full"}; }

constexpr setting k_table[] = {
    {.name = "threads",
     .type = setting_type::number,
     .least = 1,
     .most = detail::k_max_workers,
     .fallback = "auto",
     .help = "workers; auto: as many as affinity mask, cpuset, CPU quota and bind allow"},
    {.name = "policy",
     .type = setting_type::word,
     .words = policy_names,
     .fallback = "work-stealing",
     .help = "scheduling policy: which ready task a worker takes next"},
    {.name = "bind",
     .type = setting_type::placement,
     .words = binding_names,
     .fallback = "none",
     .help =
         "where workers run; in a list, one on each CPU; `quern info --binding` shows what each "
         "value gives"},
    {.name = "stack",
     .type = setting_type::word,
     .words = stack_names,
     .fallback = "medium",
     .help = "stack of tasks that ask for none: 64 KiB, 512 KiB or 8 MiB"},
    {.name = "active_workers",
     .type = setting_type::number,
     .least = 1,
     .most = detail::k_max_workers,
     .fallback = "all",
     .help = "workers that may take work at the start; the others sleep"},
    {.name = "spin_us",
     .type = setting_type::number,
     .least = 0,
     .most = detail::k_longest_spin_us,
     .fallback = "50",
     .help = "microseconds that a worker without work searches before it sleeps"},
    {.name = "steal_batch",
     .type = setting_type::number,
     .least = 1,
     .most = detail::k_largest_batch,
     .fallback = "auto",
     .help = "ready tasks that a thief takes at once, at most; auto: one, more of tiny ones, under "
             "sherwood "
             "half"},
    {.name = "hang_report",
     .type = setting_type::number,
     .least = 1,
     .most = 86'400,
     .words = hang_report_words,
     .fallback = "certain",
     .help = "who waits for what, when nothing can run; a number: after so many idle seconds"},
    {.name = "spare_threads",
     .type = setting_type::number,
     .least = 1,
     .most = detail::k_most_spare_threads,
     .fallback = "64",
     .help = "threads at most for tasks that block in foreign code (blocking_region)"},
    {.name = "crash_report",
     .type = setting_type::word,
     .words = on_or_off,
     .fallback = "on",
     .help = "whether a program with `install_crash_handler` or `quern::main` says why it dies"},
    {.name = "print-counter",
     .type = setting_type::text,
     .fallback = "",
     .help = "performance counters to print, by name, with * and ?; several separated by ';'",
     .for_observers = true,
     .is_list = true},
    {.name = "print-counter-interval",
     .type = setting_type::number,
     .least = 1,
     .most = 86'400'000,
     .fallback = "none",
     .help = "milliseconds between two prints while the program runs",
     .for_observers = true},
    {.name = "print-counter-destination",
     .type = setting_type::path,
     .fallback = "stdout",
     .help = "where counters are printed: stdout, stderr, none, or a file",
     .for_observers = true},
    {.name = "print-counter-format",
     .type = setting_type::word,
     .words = counter_formats,
     .fallback = "text",
     .help = "how counters are printed",
     .for_observers = true},
    {.name = "print-counter-at",
     .type = setting_type::word,
     .words = counter_times,
     .fallback = "shutdown",
     .help = "when counters are printed, beside the interval",
     .for_observers = true},
    {.name = "list-counters",
     .type = setting_type::word,
     .words = list_sizes,
     .fallback = "no",
     .help = "lists the counters there are before the program begins; full: with help and unit",
     .bare = "minimal",
     .for_observers = true},
    {.name = "metrics-port",
     .type = setting_type::number,
     .least = 1,
     .most = 65'535,
     .fallback = "none",
     .help = "port on 127.0.0.1 at which counters can be read as OpenMetrics text",
     .for_observers = true},
    {.name = "live",
     .type = setting_type::word,
     .words = on_or_off,
     .fallback = "on",
     .help = "whether `quern top`, `quern tasks` and `quern counters` can look into the program",
     .for_observers = true},
    {.name = "live-folder",
     .type = setting_type::text,
     .fallback = "",
     .help = "the folder of its socket for them, in which they then look alone; an absolute path",
     .for_observers = true},
    {.name = "profile",
     .type = setting_type::path,
     .fallback = "",
     .help = "statistics of each kind of task at the end: a file, or stdout, stderr",
     .for_observers = true},
    {.name = "calibration",
     .type = setting_type::path,
     .fallback = "",
     .help = "keeps what tasks take on one worker, for later reports: `quern run --calibrate`",
     .for_observers = true},
    {.name = "trace",
     .type = setting_type::path,
     .fallback = "",
     .help = "records the run for ui.perfetto.dev: a file such as run.pftrace",
     .for_observers = true},
    {.name = "report",
     .type = setting_type::path,
     .fallback = "",
     .help = "writes a page that says where the time went: a file such as run.html",
     .for_observers = true},
    {.name = "trace-events",
     .type = setting_type::number,
     .least = 1'000,
     .most = 1'000'000'000,
     .fallback = "1000000",
     .help = "events that each worker keeps for trace and report; further ones are counted alone",
     .for_observers = true},
    {.name = "trace-sample",
     .type = setting_type::number,
     .least = 1,
     .most = 32'768,
     .fallback = "auto",
     .help = "of tasks shorter than 2 us one in so many is recorded; auto: all for trace and "
             "report, for a profile alone so few that it costs little",
     .for_observers = true},
    {.name = "trace-counters",
     .type = setting_type::text,
     .fallback = "",
     .help = "performance counters to draw over time in trace and report, by name, with * and ?; "
             "several separated by ';'",
     .for_observers = true,
     .is_list = true},
    {.name = "task-events",
     .type = setting_type::text,
     .fallback = "",
     .help = "events to count by kind of task for profile, report and trace, such as "
             "instructions,cycles,page-faults; at most 8",
     .for_observers = true},
    {.name = "config",
     .type = setting_type::path,
     .fallback = "",
     .help = "TOML file with settings, one `name = value` a line"},
};

/// The number that is all of the text.
std::optional<unsigned> parse_number(std::string_view text) {
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    return whole ? std::optional(number) : std::nullopt;
}

/// The words that a setting takes as they are.
std::vector<std::string_view> words_of(const setting& row) {
    if (row.words != nullptr) {
        return row.words();
    }
    return row.type == setting_type::number && !parse_number(row.fallback)
               ? std::vector{row.fallback}
               : std::vector<std::string_view>{};
}

/// What is wrong with a value; empty when it is accepted.
std::string fault_of(const setting& row, std::string_view text) {
    const std::vector<std::string_view> words = words_of(row);
    if (text == row.fallback || std::find(words.begin(), words.end(), text) != words.end()) {
        return "";
    }
    if (row.type == setting_type::number) {
        const auto number = parse_number(text);
        if (number && *number >= row.least && *number <= row.most) {
            return "";
        }
    } else if (row.type == setting_type::placement && !text.empty()) {
        const auto how = topology::parse_binding(text);
        if (how) {
            return "";
        }
        if (text.find_first_of("0123456789") == 0 || text.find(':') != std::string_view::npos) {
            return how.reason();  // what is wrong within the list
        }
    } else if (row.type == setting_type::text ||
               (row.type == setting_type::path && !text.empty())) {
        return "";
    }
    std::string fault = "accepted: " + row.accepted();
    const std::string_view nearest = detail::nearest_match(text, words);
    if (!nearest.empty()) {
        fault.append("; did you mean '").append(nearest).append("'?");
    }
    return fault;
}

std::size_t index_of(std::string_view name) {
    const auto* const row =
        std::find_if(std::begin(k_table), std::end(k_table),
                     [name](const setting& candidate) { return candidate.name == name; });
    if (row == std::end(k_table)) {
        detail::refuse_unknown("unknown setting '" + std::string(name) + "'", name,
                               detail::setting_names(), detail::as_key);
    }
    return static_cast<std::size_t>(row - std::begin(k_table));
}

[[noreturn]] void refuse_value(std::string_view name, const setting_value& value,
                               const std::string& why) {
    detail::throw_bad_setting(std::string(name) + " is '" + value.text + "' (" + value.origin +
                              "); " + why);
}

}  // namespace

std::string setting::option() const { return detail::as_option(name); }
std::string setting::variable() const { return detail::as_variable(name); }

std::string setting::accepted() const {
    std::string text;
    if (type == setting_type::number) {
        text = "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
    } else if (type == setting_type::path) {
        text = "the path of a file";
    } else if (type == setting_type::text) {
        text = "any text";
    }
    for (const std::string_view word : words_of(*this)) {
        const char* const separator = type == setting_type::number ? ", or " : ", ";
        text.append(text.empty() ? "" : separator).append(word);
    }
    return type == setting_type::placement
               ? text + ", a list of CPUs such as 0,2-5, cores:0-3, or node:1"
               : text;
}

std::span<const setting> setting_table() noexcept { return k_table; }

settings::settings() {
    for (const setting& row : k_table) {
        m_values.push_back({.text = std::string(row.fallback)});
    }
}

const setting_value& settings::at(std::string_view name) const { return m_values[index_of(name)]; }

std::optional<unsigned> settings::number(std::string_view name) const {
    return parse_number(at(name).text);
}

void settings::set(std::string_view name, setting_value value) {
    const std::size_t index = index_of(name);
    const std::string fault = fault_of(k_table[index], value.text);
    if (!fault.empty()) {
        refuse_value(name, value, fault);
    }
    if (value.source >= m_values[index].source) {
        m_values[index] = std::move(value);
    }
}

void settings::refuse(std::string_view name, const std::string& why) const {
    refuse_value(name, at(name), why);
}

namespace detail {

std::string as_option(std::string_view name) { return "--quern:" + std::string(name); }

std::string as_variable(std::string_view name) {
    std::string variable = "QUERN_";
    for (const char c : name) {
        const bool is_lower = c >= 'a' && c <= 'z';
        variable += is_lower ? static_cast<char>(c - 'a' + 'A') : c == '-' ? '_' : c;
    }
    return variable;
}

std::string as_key(std::string_view name) { return std::string(name); }

std::vector<std::string_view> setting_names() {
    std::vector<std::string_view> names;
    for (const setting& row : k_table) {
        names.push_back(row.name);
    }
    return names;
}

void refuse_unknown(const std::string& what, std::string_view bare,
                    const std::vector<std::string_view>& names, spelling spell) {
    std::string text = what + "; accepted: ";
    for (const std::string_view name : names) {
        text += (name == names.front() ? "" : ", ") + spell(name);
    }
    const std::string_view nearest = nearest_match(bare, names);
    if (!nearest.empty()) {
        text += "; did you mean '" + spell(nearest) + "'?";
    }
    throw_bad_setting(text);
}

}  // namespace detail

}  // namespace quern
