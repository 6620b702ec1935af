// SPDX-License-Identifier: BSL-1.0
// Values of counters as text in each of the formats.
#include <quern/counters/format.hpp>

#include "core/tables.hpp"

#include <quern/base/detail/json.hpp>
#include <quern/base/detail/nearest_match.hpp>
#include <quern/base/detail/text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

namespace quern::counters {

namespace {

using quern::detail::exact_number;
using quern::detail::fixed;

constexpr std::array<std::string_view, 5> k_format_names = {"text", "csv", "csv-short", "json",
                                                            "openmetrics"};

/// In the unit in which the number has one to four digits.
std::string for_people(double number, std::string_view unit) {
    constexpr auto k_digits = quern::detail::precision::up_to_four;
    if (unit == "ns" || unit == "us") {
        return quern::detail::duration_words(unit == "us" ? 1e3 * number : number, k_digits);
    }
    if (unit == "B") {
        return quern::detail::bytes_words(number, k_digits);
    }
    if (unit == "0.01 %") {
        return fixed(number / 100, 2) + " %";
    }
    const bool is_whole = number == std::floor(number) && std::abs(number) < 1e15;
    const std::string text = is_whole ? fixed(number, 0) : quern::detail::rounded(number, 6);
    return unit.empty() ? text : text + " " + std::string(unit);
}

std::string text_of(const snapshot& what) {
    std::string text = "counters after " + fixed(what.time_s, 6) + " s\n";
    std::size_t widest = 0;
    for (const counter_value& each : what.values) {
        widest = std::max(widest, each.name.size());
    }
    for (const counter_value& each : what.values) {
        const std::string value =
            each.ok() ? for_people(each.value, each.unit) : "unavailable (" + each.why + ")";
        const std::size_t number = std::min(value.find(' '), value.size());
        const std::size_t width = 10;  // of the number, so that most stand below one another
        text += "  " + quern::detail::left(each.name, widest + 2);
        text += each.ok() ? quern::detail::right(value.substr(0, number), width) : "";
        text += value.substr(each.ok() ? number : 0) + "\n";
    }
    return text;
}

/// Between quotes where a comma or a quote would be taken for another field.
std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) {
        return text;
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c == '"' ? "\"\"" : std::string(1, c);
    }
    return quoted + "\"";
}

std::string csv_of(const snapshot& what, unsigned sequence) {
    std::string text;
    for (const counter_value& each : what.values) {
        text += csv_field(each.name) + "," + std::to_string(sequence) + "," +
                exact_number(what.time_s) + ",[s]," + (each.ok() ? exact_number(each.value) : "") +
                (each.unit.empty() ? "" : ",[" + each.unit + "]") + "\n";
    }
    return text;
}

std::string csv_short_of(const snapshot& what, unsigned sequence) {
    std::string text = std::to_string(sequence) + "," + exact_number(what.time_s);
    for (const counter_value& each : what.values) {
        text += "," + (each.ok() ? exact_number(each.value) : "");
    }
    return text + "\n";
}

std::string json_of(const snapshot& what, unsigned sequence) {
    quern::detail::json json;
    json.open('{').fields("time_s", what.time_s, "sequence", sequence).open('[', "counters");
    for (const counter_value& each : what.values) {
        json.open('{').fields("name", each.name, "value", each.ok() ? each.value : std::nan(""),
                              "unit", each.unit, "state", detail::name_of(each.state), "why",
                              each.why);
        json.close();
    }
    return json.take();
}

}  // namespace

std::string_view detail::name_of(counter_kind kind) noexcept {
    constexpr std::string_view k_names[] = {"sum", "level", "ratio"};
    return k_names[static_cast<std::size_t>(kind)];
}

std::string_view detail::name_of(source_state state) noexcept {
    constexpr std::string_view k_names[] = {"ok", "absent", "denied", "stuck", "not-yet"};
    return k_names[static_cast<std::size_t>(state)];
}

print_format parse_print_format(std::string_view word) {
    const auto* const found = std::find(k_format_names.begin(), k_format_names.end(), word);
    if (found == k_format_names.end()) {
        throw std::invalid_argument("quern: unknown format '" + std::string(word) + "'; " +
                                    quern::detail::accepted_values(word, k_format_names));
    }
    return static_cast<print_format>(found - k_format_names.begin());
}

std::string header_of(const snapshot& first, print_format as) {
    if (as != print_format::csv_short) {
        return "";
    }
    std::string text = "sequence,time_s";
    for (const counter_value& each : first.values) {
        text += "," + csv_field(each.name);
    }
    return text + "\n";
}

std::string formatted(const snapshot& what, unsigned sequence, print_format as) {
    switch (as) {
        case print_format::csv:
            return csv_of(what, sequence);
        case print_format::csv_short:
            return csv_short_of(what, sequence);
        case print_format::json:
            return json_of(what, sequence);
        case print_format::openmetrics:
            return as_openmetrics({&what, 1});
        case print_format::text:
            break;
    }
    return text_of(what);
}

std::string listed(std::span<const counter_info> counters, bool full) {
    std::string text;
    for (const counter_info& each : counters) {
        text += each.name + "\n";
        if (full) {
            text += "    " + std::string(detail::name_of(each.kind)) +
                    (each.unit.empty() ? "" : ", " + each.unit) + ": " + each.help + "\n";
        }
    }
    return text;
}

}  // namespace quern::counters
