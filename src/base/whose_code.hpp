// SPDX-License-Identifier: BSL-1.0
// Classifies code addresses: reports show the program's own calls and omit those of Quern, the
// standard library and the system. Called by symbols.cpp, also in signal handlers.
#pragma once

#include <quern/base/detail/symbols.hpp>

#include <string_view>

namespace quern::detail {

/// Whether the place belongs to Quern or the standard library.
bool is_library(const code_place& place) noexcept;

/// Whether an address is in the C library, the C++ library or a sanitizer's runtime, which may have
/// debug information too.
bool is_in_system_library(const void* address) noexcept;

/// Whether the function calls main() or the functions of threads and tasks.
bool is_beginning(std::string_view function) noexcept;

}  // namespace quern::detail
