// SPDX-License-Identifier: BSL-1.0
// Cheap time stamps for the runtime's own accounting: the core's constant-rate counter, converted
// to nanoseconds by a rate that is measured once per process. Called at every state change of a
// worker; must stay below 15 ns. User-visible deadlines use std::chrono::steady_clock instead.
#pragma once

#include <chrono>
#include <cstdint>

namespace quern::detail {

using tick_count = std::uint64_t;

/// Now, in ticks. 7-14 ns on x86-64.
inline tick_count ticks() noexcept {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    std::uint64_t value;
    asm volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
#else
    return static_cast<tick_count>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// As ticks(), after all earlier instructions have completed; out-of-order execution could
/// otherwise read the counter early. 10-25 ns.
inline tick_count ticks_in_order() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_lfence();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
    return ticks();
}

/// Nanoseconds per tick. The first call returns at the earliest 2 ms after the library was loaded.
/// Thread safe.
double ns_per_tick();

inline tick_count ticks_of_ns(double ns) { return static_cast<tick_count>(ns / ns_per_tick()); }

}  // namespace quern::detail
