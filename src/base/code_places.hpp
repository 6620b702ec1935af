// SPDX-License-Identifier: BSL-1.0
// How symbols.cpp learns what lies at an address: from libbacktrace (places_libbacktrace.cpp), or
// from the dynamic linker alone (places_absent.cpp). Which of the two is chosen by the build.
#pragma once

#include <quern/base/symbols.hpp>

namespace quern::detail {

/// Visits what debug information says, or else the symbol table. False: neither knows the address.
bool visit_known_places(const void* address, place_visitor visit, void* data) noexcept;

}  // namespace quern::detail
