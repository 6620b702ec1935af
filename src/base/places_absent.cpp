// SPDX-License-Identifier: BSL-1.0
// Used instead of places_libbacktrace.cpp without that library: only the dynamic linker is left,
// which symbols.cpp asks in any case.
#include "code_places.hpp"

namespace quern::detail {

bool visit_lines(const void*, place_visitor, void*) noexcept { return false; }
const char* linked_name(const void*) noexcept { return nullptr; }
std::string_view reason_without_lines() noexcept { return "Quern was built without libbacktrace"; }
void open_places() noexcept {}

}  // namespace quern::detail
