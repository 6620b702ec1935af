// SPDX-License-Identifier: BSL-1.0
// Broken invariants of the runtime end the program with a message that names the condition and the
// source line.
// Not for user errors, which are exceptions. QUERN_ASSERT stays in release builds and is for slow
// paths; QUERN_DEBUG_ASSERT is compiled out by NDEBUG and may be used on fast paths.
#pragma once

#include <quern/base/detail/config.hpp>

namespace quern::detail {

/// Prints condition, text and source line to stderr, then aborts.
[[noreturn]] void invariant_broken(const char* condition, const char* text, const char* file,
                                   int line) noexcept;

}  // namespace quern::detail

#define QUERN_ASSERT(condition, text)   \
    (__builtin_expect(!!(condition), 1) \
         ? static_cast<void>(0)         \
         : ::quern::detail::invariant_broken(#condition, text, __FILE__, __LINE__))

#if defined(NDEBUG)
#    define QUERN_DEBUG_ASSERT(condition, text) static_cast<void>(0)
#else
#    define QUERN_DEBUG_ASSERT(condition, text) QUERN_ASSERT(condition, text)
#endif
