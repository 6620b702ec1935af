// SPDX-License-Identifier: BSL-1.0
// How names of functions and paths of files are spelled for people: a lambda by the function around
// it, a path in one form wherever the compiler was started. Usable in a signal handler.
#pragma once

#include <quern/base/fixed_text.hpp>

#include <cstddef>
#include <string_view>

namespace quern::detail {

/// Characters of a function's name in a report (guessed).
inline constexpr std::size_t k_longest_name = 300;

/// The beginning of a text that is too long.
void add_shortened(fixed_text& text, std::string_view name) noexcept;

/// Of the runtime's own names the arguments of templates, which are long, say little.
void add_without_arguments(fixed_text& text, std::string_view name) noexcept;

/// The first argument of the first template in a name, or the name.
std::string_view first_template_argument(std::string_view name) noexcept;

/// Adds a demangled name. Of a lambda's body "solve(int)'s lambda", of its type, which comes
/// without a line of the source, "solve(int)'s lambda #2"; any other name as it is.
void add_readable(fixed_text& text, std::string_view name) noexcept;

/// Adds what debug information calls "operator()" alone, by the demangled name of the function into
/// which it was inlined: the program's, or one of Quern's that was made for a lambda.
void add_inlined_lambda(fixed_text& text, std::string_view outer) noexcept;

/// Adds a path without "." and "..". A relative one loses what leads above its beginning, which
/// depends on where the compiler was started: "../src/x.cpp" and "src/x.cpp" are one place.
void add_path(fixed_text& text, std::string_view path) noexcept;

}  // namespace quern::detail
