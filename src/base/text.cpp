// SPDX-License-Identifier: BSL-1.0
// Formatting with std::to_chars and reading with std::from_chars, which know no locale.
#include <quern/base/detail/text.hpp>

#include <quern/base/detail/utf8.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <span>
#include <system_error>

namespace quern::detail {

namespace {

constexpr std::size_t k_longest_number = 400;  // the largest double has 309 digits

template <class... How>
std::string digits_of(double value, How... how) {
    std::array<char, k_longest_number> text;
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value, how...).ptr};
}

/// Whether the whole text is a number; if so, reads it. With strtod where the standard library has
/// std::from_chars for whole numbers only, as libc++ before 20.
template <class Number>
bool read_number(std::string_view text, Number& into) {
    const char* const end = text.data() + text.size();
    if constexpr (requires { std::from_chars(text.data(), end, into); }) {
        const auto [stop, error] = std::from_chars(text.data(), end, into);
        return error == std::errc() && stop == end;
    } else {
        static const ::locale_t k_no_language = ::newlocale(LC_ALL_MASK, "C", nullptr);
        if (text.empty() || text.find_first_not_of("+-.eE0123456789") != std::string_view::npos ||
            text.front() == '+') {
            return false;
        }
        const std::string copy(text);  // ends in a zero
        char* stop = nullptr;
        errno = 0;
        into = ::strtod_l(copy.c_str(), &stop, k_no_language);
        const bool is_too_small = errno == ERANGE && into == 0;
        return stop == copy.c_str() + copy.size() && !is_too_small;
    }
}

std::string missing_blanks(std::string_view text, std::size_t columns) {
    const auto characters = static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
    return std::string(columns - std::min(columns, characters), ' ');
}

struct unit {
    double size;
    std::string_view name;
};

/// In the largest unit that gives at least 1 once rounded. The last unit, which is 1, has no
/// fraction unless up to four digits are wanted.
std::string in_units(double value, std::span<const unit> units, precision digits) {
    const bool is_short = digits == precision::three;
    for (const unit& each : units) {
        const bool is_last = each.size <= 1;
        if (is_last || std::fabs(value) >= each.size * (is_short ? 0.9995 : 1)) {
            const double number = value / each.size;
            const std::string text = !is_short ? rounded(number)
                                     : is_last ? fixed(number, 0)
                                               : short_number(number);
            return each.name.empty() ? text : text + " " + std::string(each.name);
        }
    }
    return "";
}

}  // namespace

std::string clean_text(std::string_view text, std::size_t limit) {
    std::string out;
    std::size_t at = 0;
    while (at < text.size() && at < limit) {
        const std::size_t length = utf8_length(text.substr(at));
        out.append(length == 0 ? k_no_character : text.substr(at, length));
        at += length == 0 ? 1 : length;
    }
    return out.append(at < text.size() ? "…" : "");
}

std::string one_line(std::string_view text, std::size_t limit) {
    constexpr std::string_view k_letters = "abtnvfr";  // of the characters from 7 on
    constexpr unsigned char k_first_letter = 7, k_delete = 0x7f;
    std::string out;
    for (const char c : clean_text(text, limit)) {
        const auto code = static_cast<unsigned char>(c);
        if (code >= ' ' && code != k_delete) {
            out += c;
        } else if (code >= k_first_letter && code < k_first_letter + k_letters.size()) {
            out.append("\\").append(1, k_letters[code - k_first_letter]);
        } else {
            constexpr std::string_view k_digits = "0123456789abcdef";
            out.append("\\x").append(1, k_digits[code / 16]).append(1, k_digits[code % 16]);
        }
    }
    return out;
}

std::string exact_number(double value) { return digits_of(value); }

std::optional<double> finite_number(std::string_view text) {
    double value = 0;
    return read_number(text, value) && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::string fixed(double value, int digits) {
    return digits_of(value, std::chars_format::fixed, digits);
}

std::string rounded(double value, int digits) {
    return digits_of(value, std::chars_format::general, digits);
}

std::string short_number(double value) {
    const double size = std::fabs(value);
    return fixed(value, size >= 99.95 || size == 0.0 ? 0 : size >= 9.995 ? 1 : 2);
}

std::string duration_words(double ns, precision digits) {
    constexpr unit k_units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
    return in_units(ns, k_units, digits);
}

std::string bytes_words(double bytes, precision digits) {
    constexpr double k_step = 1024;
    constexpr unit k_units[] = {{k_step * k_step * k_step * k_step, "TiB"},
                                {k_step * k_step * k_step, "GiB"},
                                {k_step * k_step, "MiB"},
                                {k_step, "KiB"},
                                {1, "B"}};
    return in_units(bytes, k_units, digits);
}

std::string amount_words(double value) {
    constexpr unit k_units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}};
    const bool has_fraction = std::fabs(value) < 999.5 && value != std::floor(value);
    return has_fraction ? short_number(value) : in_units(value, k_units, precision::three);
}

std::string percent_words(double share) {
    const double percent = 100.0 * share;
    if (percent > 0.0 && percent < 0.1) {
        return "< 0.1 %";
    }
    return fixed(percent, percent < 9.95 && percent > 0.0 ? 1 : 0) + " %";
}

std::string right(std::string_view text, std::size_t columns) {
    return missing_blanks(text, columns).append(text);
}

std::string left(std::string_view text, std::size_t columns) {
    return std::string(text) + missing_blanks(text, columns);
}

std::string count_words(std::uint64_t count) {
    std::string text = std::to_string(count);
    for (std::size_t at = text.size(); at > 3; at -= 3) {
        text.insert(at - 3, 1, ',');
    }
    return text;
}

std::string count_words(std::uint64_t count, std::string_view what) {
    return count_words(count).append(" ").append(what).append(count == 1 ? "" : "s");
}

}  // namespace quern::detail
