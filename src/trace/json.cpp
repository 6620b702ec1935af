// SPDX-License-Identifier: BSL-1.0
// Escaping. A name may contain anything, such as the end of a script element or half a character.
#include "json.hpp"

#include <charconv>
#include <cmath>
#include <cstddef>

namespace quern::trace::detail {

namespace {

unsigned byte_of(std::string_view text, std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u;
}

/// Bytes of the UTF-8 character that the text begins with; 0 when it is none.
std::size_t utf8_length(std::string_view text) {
    const unsigned first = byte_of(text, 0);
    const unsigned second = byte_of(text, 1);
    if (first < 0x80) {
        return 1;
    }
    const std::size_t length = first < 0xC2   ? 0
                               : first < 0xE0 ? 2
                               : first < 0xF0 ? 3
                               : first < 0xF5 ? 4
                                              : 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte_of(text, i) & 0xC0) != 0x80) {
            return 0;
        }
    }
    const bool too_long = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
    const bool beyond = (first == 0xED && second >= 0xA0) || (first == 0xF4 && second >= 0x90);
    return too_long || beyond ? 0 : length;
}

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
        const std::size_t length = utf8_length(text.substr(at));
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
