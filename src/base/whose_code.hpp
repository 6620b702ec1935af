// SPDX-License-Identifier: BSL-1.0
// Whose code lies at an address: reports show the program's own calls and leave out those of Quern,
// of the standard library and of the system. Called by symbols.cpp, also in signal handlers.
#pragma once

#include <quern/base/symbols.hpp>

#include <string_view>

namespace quern::detail {

/// Whether it is Quern's or the standard library's.
bool is_library(const code_place& place) noexcept;

/// Whether an address lies in the C library, its C++ counterpart or a sanitizer's runtime, which
/// may have debug information as well.
bool is_in_system_library(const void* address) noexcept;

/// Whether it is what calls main() and the functions of threads and tasks.
bool is_beginning(std::string_view function) noexcept;

}  // namespace quern::detail
