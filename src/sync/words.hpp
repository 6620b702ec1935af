// SPDX-License-Identifier: BSL-1.0
// How the look functions of this layer put into words what they have found. They run in reports,
// on bytes that may be torn: no memory, no locks, no pointers that are followed.
#pragma once

#include <quern/scheduler/wait_reason.hpp>

#include <cstdarg>
#include <cstdio>

namespace quern::detail {

/// As printf; cut off at the end of the room.
[[gnu::format(printf, 2, 3)]] inline void say(wait_findings& into, const char* format,
                                              ...) noexcept {
    std::va_list values;
    va_start(values, format);
    std::vsnprintf(into.words.data(), into.words.size(), format, values);
    va_end(values);
}

}  // namespace quern::detail
