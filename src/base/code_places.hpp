// SPDX-License-Identifier: BSL-1.0
// How symbols.cpp learns what lies at an address: from libbacktrace (places_libbacktrace.cpp), or
// from the dynamic linker alone (places_absent.cpp). Which of the two is chosen by the build.
#pragma once

#include <quern/base/symbols.hpp>

namespace quern::detail {

/// Visits what debug information says. False: it does not know the address.
bool visit_lines(const void* address, place_visitor visit, void* data) noexcept;

/// The function at an address by the symbol table, which knows neither lines nor what is inlined.
/// Null: unknown.
const char* linked_name(const void* address) noexcept;

/// Makes what the two need, so that a signal handler may be the first to ask.
void open_places() noexcept;

}  // namespace quern::detail
