// SPDX-License-Identifier: BSL-1.0
// Escaping. A name may contain anything, such as the end of a script element or half a character.
#include "json.hpp"

#include <quern/base/utf8.hpp>

#include <charconv>
#include <cmath>
#include <cstddef>

namespace quern::trace::detail {

namespace {

/// A byte; those of longer characters stay as they are.
void append_byte(std::string& out, char c) {
    constexpr std::string_view k_digits = "0123456789abcdef";
    const auto code = static_cast<unsigned char>(c);
    const bool markup = c == '<' || c == '>' || c == '&';
    if (code < 0x20 || code == 0x7F || markup) {
        out.append("\\u00").append(1, k_digits[code / 16]).append(1, k_digits[code % 16]);
    } else {
        out.append(c == '"' || c == '\\' ? "\\" : "").append(1, c);
    }
}

}  // namespace

std::string clean_text(std::string_view text, std::size_t limit) {
    std::string out;
    std::size_t at = 0;
    while (at < text.size() && at < limit) {
        const std::size_t length = quern::detail::utf8_length(text.substr(at));
        out.append(length == 0 ? "\xEF\xBF\xBD" : text.substr(at, length));
        at += length == 0 ? 1 : length;
    }
    return out.append(at < text.size() ? "…" : "");
}

std::string json_text(std::string_view text, std::size_t limit) {
    std::string out = "\"";
    for (const char c : clean_text(text, limit)) {
        append_byte(out, c);
    }
    return out.append("\"");
}

std::string json_number(double value) {
    if (!std::isfinite(value)) {
        return "0";
    }
    char text[32];
    const auto [end, error] = std::to_chars(text, text + sizeof text, value);
    return error == std::errc{} ? std::string(text, end) : "0";
}

}  // namespace quern::trace::detail
