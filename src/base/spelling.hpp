// SPDX-License-Identifier: BSL-1.0
// Readable spelling of function names and file paths: a lambda is named after its enclosing
// function; a path has one form, independent of the compiler's working directory. Usable in a
// signal handler.
#pragma once

#include <quern/base/detail/fixed_text.hpp>

#include <cstddef>
#include <string_view>

namespace quern::detail {

/// Characters of a function's name in a report (guessed).
inline constexpr std::size_t k_longest_name = 300;

/// Adds the text, truncated if it is too long.
void add_shortened(fixed_text& text, std::string_view name) noexcept;

/// Omits template arguments, which are long and of little use in the runtime's own names.
void add_without_arguments(fixed_text& text, std::string_view name) noexcept;

/// The first argument of the first template in a name, or the name.
std::string_view first_template_argument(std::string_view name) noexcept;

/// Adds a demangled name. The body of a lambda becomes "solve(int)'s lambda"; its type, which has
/// no source line, "solve(int)'s lambda #2". Other names are unchanged.
void add_readable(fixed_text& text, std::string_view name) noexcept;

/// Names an inlined lambda, which debug information calls only "operator()", given the demangled
/// name of the function into which it was inlined: the program's, or a function of Quern
/// instantiated for a lambda.
void add_inlined_lambda(fixed_text& text, std::string_view outer) noexcept;

/// Adds a path without "." and "..". Leading ".." of a relative path are dropped, since they depend
/// on the compiler's working directory: "../src/x.cpp" and "src/x.cpp" are one place.
void add_path(fixed_text& text, std::string_view path) noexcept;

}  // namespace quern::detail
