// SPDX-License-Identifier: BSL-1.0
// Formats rows of waits. Private to the layer.
#pragma once

#include <quern/trace/recording.hpp>

#include <cstdint>
#include <cstdio>
#include <string>

namespace quern::trace::detail {

/// "mutex 0x55cf1780a4e0", "a future".
inline std::string thing_words(const wait_row& of) {
    if (of.thing == 0) {
        return of.kind;
    }
    char address[24];
    std::snprintf(address, sizeof address, " 0x%llx", static_cast<unsigned long long>(of.thing));
    return of.kind + address;
}

/// "solve(int)'s lambda at heat.cpp:42", or empty.
inline std::string line_words(const wait_line& of) {
    return of.location.empty() ? of.function : of.function + " at " + of.location;
}

/// "mutex 0x55cf1780a4e0 at heat.cpp:42".
inline std::string wait_words(const wait_row& of) {
    const std::string line = of.lines.empty() ? "" : of.lines.front().location;
    return thing_words(of) + (line.empty() ? "" : " at " + line);
}

}  // namespace quern::trace::detail
