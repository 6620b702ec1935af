// SPDX-License-Identifier: BSL-1.0
// The backends of symbols.cpp: libbacktrace (places_libbacktrace.cpp), or only the dynamic linker
// (places_absent.cpp). The build selects one.
#pragma once

#include <quern/base/detail/symbols.hpp>

#include <string_view>

namespace quern::detail {

/// Visits the places in the debug information. False: the address is unknown.
bool visit_lines(const void* address, place_visitor visit, void* data) noexcept;

/// The function at an address by the symbol table, which has neither lines nor inlined functions.
/// Null: unknown.
const char* linked_name(const void* address) noexcept;

/// Why the debug information of the program cannot be read, or that it has none.
std::string_view reason_without_lines() noexcept;

/// Initialises the backend, so that a signal handler may be the first caller.
void open_places() noexcept;

/// The description without debug information. In symbols.cpp, for call_stack.cpp.
void add_linked(fixed_text& text, const void* address, spelling_of_names how) noexcept;

}  // namespace quern::detail
