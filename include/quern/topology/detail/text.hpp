// SPDX-License-Identifier: BSL-1.0
// Text handling shared by parsers of system files, in this layer and those above. Not for users. No
// function here may throw on any input, or depend on the locale.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace quern::topology::detail {

inline std::string_view trim(std::string_view text) noexcept {
    constexpr std::string_view k_white = " \t\r\n";
    const std::size_t first = text.find_first_not_of(k_white);
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(k_white) - first + 1);
}

/// The pieces between separators, empty ones included; one empty piece for an empty text.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> pieces;
    for (std::size_t at = text.find(separator); at != std::string_view::npos;
         at = text.find(separator)) {
        pieces.push_back(text.substr(0, at));
        text.remove_prefix(at + 1);
    }
    pieces.push_back(text);
    return pieces;
}

/// The words between blanks and tabs.
inline std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> found;
    while (!(text = trim(text)).empty()) {
        const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
        found.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return found;
}

/// A decimal number that is the whole text: no sign, no blanks, no overflow.
template <class Number = std::uint64_t>
std::optional<Number> parse_number(std::string_view text) noexcept {
    Number value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end) {
        return std::nullopt;
    }
    return value;
}

/// Formats foreign text for a message: quoted, cut after 60 characters, control characters and
/// bytes above ASCII as '?'.
inline std::string in_quotes(std::string_view text) {
    constexpr std::size_t k_shown = 60;
    std::string out = "\"";
    for (const char c : text.substr(0, k_shown)) {
        out.push_back(c == '\n' || c == '\t' ? ' ' : (c < ' ' || c > '~' ? '?' : c));
    }
    return out.append(text.size() > k_shown ? "…\"" : "\"");
}

}  // namespace quern::topology::detail
