// SPDX-License-Identifier: BSL-1.0
// Compiler and build configuration in one place, so that no other file needs #if for it. Every
// layer includes this; it must include nothing but compiler built-ins.
#pragma once

// a mere #error would be followed by hundreds of errors; a missing include file ends the
// compilation.
#if __cplusplus < 202002L
#    error "quern needs C++20: compile with -std=c++20 or a later standard"
#    include "quern needs C++20: compile with -std=c++20 or a later standard"
#endif

#define QUERN_ALWAYS_INLINE inline __attribute__((always_inline))
#define QUERN_NOINLINE __attribute__((noinline))
#define QUERN_COLD __attribute__((noinline, cold))

#if defined(__SANITIZE_ADDRESS__)
#    define QUERN_ASAN 1
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define QUERN_ASAN 1
#    endif
#endif
#if !defined(QUERN_ASAN)
#    define QUERN_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__)
#    define QUERN_TSAN 1
#elif defined(__has_feature)
#    if __has_feature(thread_sanitizer)
#        define QUERN_TSAN 1
#    endif
#endif
#if !defined(QUERN_TSAN)
#    define QUERN_TSAN 0
#endif

#if !defined(QUERN_WITH_COUNTERS)
#    define QUERN_WITH_COUNTERS 1
#endif

namespace quern::detail {

/// False only in builds that measure the cost of the counters.
inline constexpr bool k_counters = QUERN_WITH_COUNTERS != 0;

inline constexpr bool k_asan = QUERN_ASAN != 0;
inline constexpr bool k_tsan = QUERN_TSAN != 0;

/// Keeps the compiler from moving memory accesses across this point; emits no instruction.
QUERN_ALWAYS_INLINE void compiler_barrier() noexcept { asm volatile("" ::: "memory"); }

/// An address in the caller's code, also if the caller itself is inlined; debug information maps it
/// to a source line. Null on other architectures.
QUERN_ALWAYS_INLINE const void* code_address() noexcept {
    const void* here = nullptr;
#if defined(__x86_64__)
    asm volatile("1: leaq 1b(%%rip), %0" : "=r"(here));
#elif defined(__aarch64__)
    asm volatile("adr %0, ." : "=r"(here));
#endif
    return here;
}

}  // namespace quern::detail
