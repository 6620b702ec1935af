// SPDX-License-Identifier: BSL-1.0
// Numbers in words, for those who read a report. The same in every locale. Private to the layer.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace quern::trace::detail {

/// Like printf's %.{digits}f, with a point in every locale.
inline std::string fixed(double value, int digits) {
    char text[400];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    for (char& c : text) {
        if (c == ',') {
            c = '.';
        }
    }
    return text;
}

/// Three digits: 1.23, 12.3, 123, 1230.
inline std::string short_number(double value) {
    const double size = std::fabs(value);
    return fixed(value, size >= 99.95 || size == 0.0 ? 0 : size >= 9.995 ? 1 : 2);
}

/// "1.23 µs", "45.6 ms", "7.89 s".
inline std::string duration_words(double ns) {
    struct unit {
        double size;
        std::string_view name;
    };
    constexpr unit k_units[] = {{1e9, " s"}, {1e6, " ms"}, {1e3, " µs"}};
    for (const unit& u : k_units) {
        if (std::fabs(ns) >= u.size * 0.9995) {
            return short_number(ns / u.size).append(u.name);
        }
    }
    return fixed(ns, 0) + " ns";
}

/// "62 %", "0.4 %", "< 0.1 %".
inline std::string percent_words(double share) {
    const double percent = 100.0 * share;
    if (percent > 0.0 && percent < 0.1) {
        return "< 0.1 %";
    }
    return fixed(percent, percent < 9.95 && percent > 0.0 ? 1 : 0) + " %";
}

/// "12,345,678".
inline std::string count_words(std::uint64_t count) {
    std::string text = std::to_string(count);
    for (std::size_t at = text.size(); at > 3; at -= 3) {
        text.insert(at - 3, 1, ',');
    }
    return text;
}

/// "1 task", "2 tasks".
inline std::string count_words(std::uint64_t count, std::string_view what) {
    return count_words(count).append(" ").append(what).append(count == 1 ? "" : "s");
}

}  // namespace quern::trace::detail
