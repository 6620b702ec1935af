// SPDX-License-Identifier: BSL-1.0
// The operations of /arithmetics and /statistics, and the parser of their names.
#include "core/derived.hpp"

#include "core/moments.hpp"
#include "core/statistics.hpp"
#include "core/tables.hpp"

#include <quern/base/detail/nearest_match.hpp>
#include <quern/topology/detail/text.hpp>

#include <stdexcept>

namespace quern::counters::detail {

namespace {

constexpr std::string_view k_arithmetics_object = "/arithmetics";
constexpr std::string_view k_statistics_object = "/statistics";

constexpr arithmetic k_arithmetics[] = {
    {"add", true, sum_of, "the sum of all operands"},
    {"subtract", true, [](numbers of) { return of.front() - sum_of(of.subspan(1)); },
     "the first operand less all others"},
    {"multiply", false, product_of, "the product of all operands"},
    {"divide", false, [](numbers of) { return of.front() / product_of(of.subspan(1)); },
     "the first operand divided by each of the others"},
    {"mean", true, mean_of, "the arithmetic mean of the operands"},
    {"variance", false, variance_of, "the mean square of the operands' distance from their mean"},
    {"median", true, median_of, "the middle one of the operands"},
    {"min", true, min_of, "the least of the operands"},
    {"max", true, max_of, "the greatest of the operands"},
    {"count", false, [](numbers of) { return static_cast<double>(of.size()); },
     "how many of the operands are available", true},
};

std::vector<double> window_of(const sample_log& log) { return log.youngest(log.window()); }

constexpr statistic k_statistics[] = {
    {"average", [](const sample_log& log) { return log.average(); }, "the mean of all samples"},
    {"stddev", [](const sample_log& log) { return log.stddev(); },
     "the standard deviation of all samples"},
    {"median", [](const sample_log& log) { return median_of(log.youngest(k_median_samples)); },
     "the middle one of the last 4096 samples"},
    {"min", [](const sample_log& log) { return log.min(); }, "the least sample"},
    {"max", [](const sample_log& log) { return log.max(); }, "the greatest sample"},
    {"rolling_average", [](const sample_log& log) { return mean_of(window_of(log)); },
     "the mean of the samples in the window"},
    {"rolling_stddev", [](const sample_log& log) { return stddev_of(window_of(log)); },
     "the standard deviation of the samples in the window"},
    {"rolling_min", [](const sample_log& log) { return min_of(window_of(log)); },
     "the least sample in the window"},
    {"rolling_max", [](const sample_log& log) { return max_of(window_of(log)); },
     "the greatest sample in the window"},
};

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
    throw std::invalid_argument("quern: counter name '" + std::string(text) + "': " + why);
}

/// The row with that name; otherwise throws with the accepted names.
template <class Row>
const Row& row_of(std::span<const Row> rows, std::string_view text, const std::string& name) {
    std::vector<std::string_view> names;
    for (const Row& each : rows) {
        if (each.name == name) {
            return each;
        }
        names.push_back(each.name);
    }
    refuse(text, "unknown '" + name + "'; " + quern::detail::accepted_values(name, names));
}

/// Removes the next number from a list and returns it; accepts `least` to `most`.
unsigned take_number(std::string_view text, std::string_view& list, const char* what,
                     unsigned least, unsigned most) {
    const std::string_view word = list.substr(0, list.find(','));
    list.remove_prefix(std::min(word.size() + 1, list.size()));
    const auto number = topology::detail::parse_number<unsigned>(word);
    if (!number || *number < least || *number > most) {
        refuse(text, std::string(what) + " is '" + std::string(word) +
                         "'; accepted: a whole number from " + std::to_string(least) + " to " +
                         std::to_string(most));
    }
    return *number;
}

}  // namespace

std::span<const arithmetic> arithmetics() noexcept { return k_arithmetics; }
std::span<const statistic> statistics() noexcept { return k_statistics; }

arithmetic_request parse_arithmetic(std::string_view text, const counter_name& name) {
    arithmetic_request request;
    request.how = &row_of(arithmetics(), text, name.name);
    if (!name.instance.empty()) {
        refuse(text, "/arithmetics has no instance; its operands have, after '@'");
    }
    if (name.parameters.empty()) {
        refuse(text, "expected '@' and the names of counters, separated by commas");
    }
    request.operands = split_names(name.parameters);
    for (const std::string& each : request.operands) {
        if (parse_name(each).object == "arithmetics") {
            refuse(text, "an operand of /arithmetics cannot be /arithmetics");
        }
    }
    return request;
}

statistic_request parse_statistic(std::string_view text, const counter_name& name) {
    constexpr unsigned k_longest_interval = 86'400'000;  // a day, as between two prints
    constexpr unsigned k_widest_window = 100'000;
    statistic_request request;
    request.how = &row_of(statistics(), text, name.name);
    request.base = name.instance;
    if (request.base.empty() || request.base.front() != '/') {
        refuse(text, "expected the name of a counter in braces: /statistics{/threads/idle-rate}/" +
                         name.name + "@1000");
    }
    std::string_view list = name.parameters;
    if (!list.empty()) {
        request.interval = std::chrono::milliseconds(
            take_number(text, list, "the interval in milliseconds", 1, k_longest_interval));
    }
    if (!list.empty()) {
        request.window = take_number(text, list, "the window in samples", 1, k_widest_window);
    }
    if (!list.empty()) {
        request.resets = take_number(text, list, "what tells whether a sample resets", 0, 1) != 0;
    }
    if (!list.empty()) {
        refuse(text, "'" + std::string(list) + "' is too much; accepted: interval, window, reset");
    }
    return request;
}

bool names_derived(std::string_view pattern) noexcept {
    const std::string_view object = pattern.substr(0, pattern.find_first_of("/{", 1));
    return object == k_arithmetics_object || object == k_statistics_object;
}

std::vector<counter_info> describe_derived(std::string_view pattern) {
    const bool is_all = pattern == k_arithmetics_object || pattern == k_statistics_object;
    const counter_name wanted = parse_name(std::string(pattern) + (is_all ? "/*" : ""));
    const bool is_of_time = wanted.object == "statistics";
    if (!wanted.parameters.empty()) {
        check_derived(pattern, wanted);
    }
    std::vector<counter_info> all;
    const auto add = [&](const auto& row, const std::string& name) {
        if (matches(wanted.name, row.name)) {
            all.push_back({wanted.parameters.empty() ? name : std::string(pattern),
                           counter_kind::level, "", std::string(row.help)});
        }
    };
    for (const arithmetic& row : is_of_time ? std::span<const arithmetic>() : arithmetics()) {
        add(row, "/arithmetics/" + std::string(row.name) + "@COUNTER,COUNTER");
    }
    for (const statistic& row : is_of_time ? statistics() : std::span<const statistic>()) {
        add(row, "/statistics{COUNTER}/" + std::string(row.name) + "@INTERVAL,WINDOW,RESET");
    }
    if (all.empty()) {
        is_of_time ? static_cast<void>(row_of(statistics(), pattern, wanted.name))
                   : static_cast<void>(row_of(arithmetics(), pattern, wanted.name));
    }
    return all;
}

std::vector<counter_info> describe_derived() {
    std::vector<counter_info> all = describe_derived(k_arithmetics_object);
    for (counter_info& each : describe_derived(k_statistics_object)) {
        all.push_back(std::move(each));
    }
    return all;
}

void check_derived(std::string_view text, const counter_name& name) {
    if (name.object == "statistics") {
        check_pattern(parse_statistic(text, name).base);
        return;
    }
    for (const std::string& each : parse_arithmetic(text, name).operands) {
        check_pattern(each);
    }
}

}  // namespace quern::counters::detail
