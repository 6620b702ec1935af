// SPDX-License-Identifier: BSL-1.0
// Formats the findings of this layer's look functions. They run in reports, on bytes that may be
// torn: no allocation, no locks, no dereferencing.
#pragma once

#include <quern/scheduler/detail/wait_reason.hpp>

#include <cstdarg>
#include <cstdio>

namespace quern::detail {

/// As printf; truncated to the available room.
[[gnu::format(printf, 2, 3)]] inline void say(wait_findings& into, const char* format,
                                              ...) noexcept {
    std::va_list values;
    va_start(values, format);
    std::vsnprintf(into.words.data(), into.words.size(), format, values);
    va_end(values);
}

}  // namespace quern::detail
