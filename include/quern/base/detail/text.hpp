// SPDX-License-Identifier: BSL-1.0
// Numbers and foreign text in reports, pages, answers and commands: one way to write each. The
// result is the same in every locale. For report code: each call allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace quern::detail {

/// Text as valid UTF-8: other bytes become U+FFFD; what is longer than the limit, in bytes, ends in
/// an ellipsis.
std::string clean_text(std::string_view text, std::size_t limit = 500);

/// The same for one line of text output: a control character becomes its escape in C, so that a
/// name can neither end the line nor command a terminal.
std::string one_line(std::string_view text, std::size_t limit = 500);

/// The shortest text that reads as the same double: "0.1".
std::string exact_number(double value);

/// The finite number that is the whole text; nothing for other text. As std::from_chars reads it:
/// no blanks, no '+', no hexadecimal digits.
std::optional<double> finite_number(std::string_view text);

/// So many digits after the point: "0.10".
std::string fixed(double value, int digits);

/// So many significant digits at most, without zeros at the end: "0.3333".
std::string rounded(double value, int digits = 4);

/// Three digits: 1.23, 12.3, 123, 1230.
std::string short_number(double value);

/// How many digits a number with a unit has: three always (tables of rates, sentences), or up to
/// four (values to compute with).
enum class precision : std::uint8_t { three, up_to_four };

/// "1.23 µs", "45.6 ms", "7.89 s"; whole nanoseconds.
std::string duration_words(double ns, precision digits = precision::three);

/// "512 B", "1.5 KiB", "2.25 GiB".
std::string bytes_words(double bytes, precision digits = precision::up_to_four);

/// "512", "37.5 k", "1.23 M".
std::string amount_words(double value);

/// "62 %", "0.4 %", "< 0.1 %".
std::string percent_words(double share);

/// Filled up with blanks to so many columns, before or after the text. A character counts as one,
/// however many bytes it has.
std::string right(std::string_view text, std::size_t columns);
std::string left(std::string_view text, std::size_t columns);

/// "12,345,678".
std::string count_words(std::uint64_t count);

/// "1 task", "2 tasks".
std::string count_words(std::uint64_t count, std::string_view what);

}  // namespace quern::detail
