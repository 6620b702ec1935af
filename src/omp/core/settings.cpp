// SPDX-License-Identifier: BSL-1.0
// Reads the OMP_* variables.
#include "core/settings.hpp"

#include "core/cancellation.hpp"

#include <sched.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace quern::omp {

constinit bool g_cancels = false;

namespace {

constexpr unsigned long k_largest_stack = 10UL << 20;

std::string trimmed_lower(std::string_view text) {
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) {
        text.remove_prefix(1);
    }
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
        text.remove_suffix(1);
    }
    std::string lower(text);
    for (char& c : lower) {
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return lower;
}

/// Tells that the value of a variable that is set cannot be used; the value as it was written.
void reject(const char* variable, const char* accepted) {
    std::fprintf(stderr, "quern: %s = '%s' is not used; accepted: %s\n", variable,
                 std::getenv(variable), accepted);
    const char* const is_strict = std::getenv("QUERN_OMP_STRICT");
    if (is_strict != nullptr && trimmed_lower(is_strict) == "on") {
        std::exit(1);
    }
}

std::optional<unsigned long> number_in(const std::string& text) {
    unsigned long number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number)
                                                                    : std::nullopt;
}

/// The value of a variable that is set to something.
std::optional<std::string> read(const char* variable) {
    const char* const value = std::getenv(variable);
    return value != nullptr ? std::optional(trimmed_lower(value)) : std::nullopt;
}

std::optional<unsigned> read_number(const char* variable, unsigned least, unsigned most,
                                    const char* accepted) {
    const auto text = read(variable);
    if (!text) {
        return std::nullopt;
    }
    const auto number = number_in(*text);
    if (!number || *number < least || *number > most) {
        reject(variable, accepted);
        return std::nullopt;
    }
    return static_cast<unsigned>(*number);
}

std::optional<bool> read_switch(const char* variable) {
    const auto text = read(variable);
    if (!text) {
        return std::nullopt;
    }
    if (*text == "true" || *text == "1" || *text == "yes" || *text == "on") {
        return true;
    }
    if (*text == "false" || *text == "0" || *text == "no" || *text == "off") {
        return false;
    }
    reject(variable, "true or false");
    return std::nullopt;
}

void read_threads(settings& into) {
    const auto text = read("OMP_NUM_THREADS");
    if (!text) {
        return;
    }
    std::vector<unsigned> numbers;
    for (std::string_view rest = *text;;) {
        const std::size_t comma = rest.find(',');
        const auto number = number_in(trimmed_lower(rest.substr(0, comma)));
        if (!number || *number == 0 || *number > k_most_threads) {
            reject("OMP_NUM_THREADS", "numbers of 1 to 4095, separated by commas");
            return;
        }
        numbers.push_back(static_cast<unsigned>(*number));
        if (comma == std::string_view::npos) {
            break;
        }
        rest.remove_prefix(comma + 1);
    }
    into.initial.threads = numbers.front();
    into.threads_by_level = std::move(numbers);
}

void read_schedule(settings& into) {
    const auto text = read("OMP_SCHEDULE");
    if (!text) {
        return;
    }
    constexpr const char* k_accepted =
        "[monotonic:|nonmonotonic:]static|dynamic|guided|auto[,chunk of 1 or more]";
    std::string_view rest = *text;
    control_values& values = into.initial;
    bool is_monotonic = false;
    if (const std::size_t colon = rest.find(':'); colon != std::string_view::npos) {
        const std::string modifier = trimmed_lower(rest.substr(0, colon));
        if (modifier != "monotonic" && modifier != "nonmonotonic") {
            reject("OMP_SCHEDULE", k_accepted);
            return;
        }
        is_monotonic = modifier == "monotonic";
        rest.remove_prefix(colon + 1);
    }
    const std::size_t comma = rest.find(',');
    const std::string kind = trimmed_lower(rest.substr(0, comma));
    const auto known = kind == "static"    ? std::optional(schedule_kind::fixed)
                       : kind == "dynamic" ? std::optional(schedule_kind::dynamic)
                       : kind == "guided"  ? std::optional(schedule_kind::guided)
                       : kind == "auto"    ? std::optional(schedule_kind::automatic)
                                           : std::nullopt;
    std::optional<unsigned long> chunk = known == schedule_kind::fixed ? 0 : 1;
    if (comma != std::string_view::npos) {
        chunk = number_in(trimmed_lower(rest.substr(comma + 1)));
    }
    if (!known || !chunk || *chunk > (1UL << 62) ||
        (comma != std::string_view::npos && *chunk == 0)) {
        reject("OMP_SCHEDULE", k_accepted);
        return;
    }
    values.schedule = *known;
    values.chunk = static_cast<long>(*chunk);
    values.is_monotonic = is_monotonic;
}

void read_levels(settings& into) {
    if (into.threads_by_level.size() > 1) {
        into.initial.most_active_levels = k_most_levels;
    }
    if (const auto nested = read_switch("OMP_NESTED")) {
        into.initial.most_active_levels = *nested ? k_most_levels : 1;
    }
    if (const auto most =
            read_number("OMP_MAX_ACTIVE_LEVELS", 0, 1U << 30, "a number of 0 or more")) {
        into.initial.most_active_levels = std::min(*most, k_most_levels);
    }
}

/// Stacks have one size: a wish for more is told, one for less is met.
void check_stack_size() {
    const auto text = read("OMP_STACKSIZE");
    if (!text || text->empty()) {
        return;
    }
    std::string digits = *text;
    unsigned long unit = 1024;
    switch (digits.back()) {
        case 'b':
            unit = 1;
            break;
        case 'k':
            unit = 1024;
            break;
        case 'm':
            unit = 1UL << 20;
            break;
        case 'g':
            unit = 1UL << 30;
            break;
        default:
            digits += 'k';
            break;
    }
    digits.pop_back();
    const auto number = number_in(trimmed_lower(digits));
    if (!number || *number == 0 || *number > (1UL << 40)) {
        reject("OMP_STACKSIZE", "a number with B, K, M or G, such as 8M");
    } else if (*number * unit > k_largest_stack) {
        reject("OMP_STACKSIZE",
               "at most 10M: each stack has that much, and recursion through tasks continues on "
               "further stacks");
    }
}

void read_wait_policy(settings& into) {
    const auto text = read("OMP_WAIT_POLICY");
    if (!text) {
        return;
    }
    into.waits_actively = *text == "active";
    into.waits_passively = *text == "passive";
    if (!into.waits_actively && !into.waits_passively) {
        reject("OMP_WAIT_POLICY", "active or passive");
    }
}

unsigned count_processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    return ::sched_getaffinity(0, sizeof set, &set) == 0
               ? static_cast<unsigned>(std::max(1, CPU_COUNT(&set)))
               : 1;
}

settings read_settings() {
    settings all;
    all.processors = count_processors();
    all.initial.threads = all.processors;
    all.thread_limit = k_most_threads;
    read_threads(all);
    read_schedule(all);
    read_levels(all);
    check_stack_size();
    read_wait_policy(all);
    all.cancels = read_switch("OMP_CANCELLATION").value_or(false);
    if (const char* const format = std::getenv("OMP_AFFINITY_FORMAT")) {
        all.affinity_format = format;
    }
    all.teams = read_number("OMP_NUM_TEAMS", 1, 1U << 30, "a number of 1 or more").value_or(0);
    all.teams_thread_limit =
        read_number("OMP_TEAMS_THREAD_LIMIT", 1, k_most_threads, "a number of 1 to 4095")
            .value_or(0);
    all.initial.adjusts_threads = read_switch("OMP_DYNAMIC").value_or(false);
    all.thread_limit = read_number("OMP_THREAD_LIMIT", 1, k_most_threads, "a number of 1 to 4095")
                           .value_or(k_most_threads);
    all.highest_priority =
        read_number("OMP_MAX_TASK_PRIORITY", 0, 1U << 30, "a number of 0 or more").value_or(0);
    return all;
}

}  // namespace

const settings& the_settings() {
    static const settings* const known = [] {
        auto* const made = new settings(read_settings());  // outlives exit()
        g_cancels = made->cancels;
        return made;
    }();
    return *known;
}

void fatal(const char* format, ...) noexcept {
    std::fputs("quern: ", stderr);
    std::va_list list;
    va_start(list, format);
    std::vfprintf(stderr, format, list);
    va_end(list);
    std::fputc('\n', stderr);
    std::abort();
}

void is_missing(const char* what) noexcept {
    fatal("%s is not implemented; docs/openmp.md lists what is", what);
}

}  // namespace quern::omp
