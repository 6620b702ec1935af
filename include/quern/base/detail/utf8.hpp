// SPDX-License-Identifier: BSL-1.0
// Finds the end of a UTF-8 character. Names of tasks and lines of files are arbitrary bytes, but
// the output (JSON, pages) must be well-formed.
#pragma once

#include <cstddef>
#include <string_view>

namespace quern::detail {

/// U+FFFD, which stands for bytes that are no character.
inline constexpr std::string_view k_no_character = "\xEF\xBF\xBD";

/// The bytes of the character that the text begins with; 0 when it is none: malformed, cut short,
/// longer than needed, half of a surrogate pair, or beyond the last (RFC 3629).
/// Requires: the text is not empty.
inline std::size_t utf8_length(std::string_view text) noexcept {
    const auto byte = [text](std::size_t at) -> unsigned {
        return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
    };
    const unsigned first = byte(0);
    if (first < 0x80) {
        return 1;
    }
    const std::size_t length = first < 0xc2   ? 0
                               : first < 0xe0 ? 2
                               : first < 0xf0 ? 3
                               : first < 0xf5 ? 4
                                              : 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) {
            return 0;
        }
    }
    const unsigned second = byte(1);
    const bool too_long = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
    const bool no_character =
        (first == 0xed && second >= 0xa0) || (first == 0xf4 && second >= 0x90);
    return too_long || no_character ? 0 : length;
}

}  // namespace quern::detail
