// SPDX-License-Identifier: BSL-1.0
// Values of counters as text in each of the formats.
#include <quern/counters/format.hpp>

#include <quern/base/nearest_match.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <utility>
#include <vector>

namespace quern::counters {

namespace {

constexpr std::array<std::string_view, 5> k_format_names = {"text", "csv", "csv-short", "json",
                                                            "openmetrics"};
constexpr std::array<std::string_view, 4> k_state_names = {"ok", "absent", "denied", "stuck"};

/// The shortest text that reads back as the same number.
std::string exact(double number) {
    char text[32];
    const auto end = std::to_chars(std::begin(text), std::end(text), number).ptr;
    return {text, end};
}

std::string rounded(double number, const char* format = "%.4g") {
    char text[32];
    std::snprintf(text, sizeof text, format, number);
    return text;
}

/// In the unit in which the number has one to four digits.
std::string for_people(double number, std::string_view unit) {
    constexpr std::pair<double, const char*> k_times[] = {
        {1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {0, "ns"}};
    constexpr std::pair<double, const char*> k_bytes[] = {
        {1073741824.0, "GiB"}, {1048576.0, "MiB"}, {1024.0, "KiB"}, {0, "B"}};
    const auto scaled = [](double of, const auto& scales) {
        const auto* const fits =
            std::find_if(std::begin(scales), std::end(scales),
                         [of](const auto& scale) { return std::abs(of) >= scale.first; });
        return rounded(fits->first > 0 ? of / fits->first : of) + " " + fits->second;
    };
    if (unit == "ns" || unit == "us") {
        return scaled(unit == "us" ? 1e3 * number : number, k_times);
    }
    if (unit == "B") {
        return scaled(number, k_bytes);
    }
    if (unit == "0.01 %") {
        return rounded(number / 100, "%.2f") + " %";
    }
    const bool is_whole = number == std::floor(number) && std::abs(number) < 1e15;
    const std::string text = rounded(number, is_whole ? "%.0f" : "%.6g");
    return unit.empty() ? text : text + " " + std::string(unit);
}

std::string text_of(const snapshot& what) {
    std::string text = "counters after " + rounded(what.time_s, "%.6f") + " s\n";
    std::size_t widest = 0;
    for (const counter_value& each : what.values) {
        widest = std::max(widest, each.name.size());
    }
    for (const counter_value& each : what.values) {
        const std::string value =
            each.ok() ? for_people(each.value, each.unit) : "unavailable (" + each.why + ")";
        const std::size_t number = each.ok() ? value.find(' ') : value.size();
        const std::size_t width = 10;  // of the number, so that most stand below one another
        const std::size_t digits = std::min(number, value.size());
        text += "  " + each.name + std::string(widest - each.name.size() + 2, ' ');
        text += std::string(each.ok() && digits < width ? width - digits : 0, ' ') + value + "\n";
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
        text += csv_field(each.name) + "," + std::to_string(sequence) + "," + exact(what.time_s) +
                ",[s]," + (each.ok() ? exact(each.value) : "") +
                (each.unit.empty() ? "" : ",[" + each.unit + "]") + "\n";
    }
    return text;
}

std::string csv_short_of(const snapshot& what, unsigned sequence) {
    std::string text = std::to_string(sequence) + "," + exact(what.time_s);
    for (const counter_value& each : what.values) {
        text += "," + (each.ok() ? exact(each.value) : "");
    }
    return text + "\n";
}

std::string json_string(std::string_view text) {
    std::string quoted = "\"";
    quoted.reserve(text.size() + 2);
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            quoted += '\\';
        }
        if (static_cast<unsigned char>(c) < 0x20) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
            quoted += escape;
        } else {
            quoted += c;
        }
    }
    return quoted + "\"";
}

std::string json_of(const snapshot& what, unsigned sequence) {
    std::string text = "{\"time_s\":" + exact(what.time_s) +
                       ",\"sequence\":" + std::to_string(sequence) + ",\"counters\":[";
    for (const counter_value& each : what.values) {
        const bool has_number = each.ok() && std::isfinite(each.value);
        text += (&each == what.values.data() ? "{\"name\":" : ",{\"name\":") +
                json_string(each.name) + ",\"value\":" + (has_number ? exact(each.value) : "null") +
                ",\"unit\":" + json_string(each.unit) +
                ",\"state\":" + json_string(k_state_names[static_cast<std::size_t>(each.state)]) +
                ",\"why\":" + json_string(each.why) + "}";
    }
    return text + "]}\n";
}

}  // namespace

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
    constexpr const char* k_kinds[] = {"sum", "level", "ratio"};
    std::string text;
    for (const counter_info& each : counters) {
        text += each.name + "\n";
        if (full) {
            text += std::string("    ") + k_kinds[static_cast<std::size_t>(each.kind)] +
                    (each.unit.empty() ? "" : ", " + each.unit) + ": " + each.help + "\n";
        }
    }
    return text;
}

}  // namespace quern::counters
