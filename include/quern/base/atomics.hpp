// SPDX-License-Identifier: BSL-1.0
// The atomics that the protocols of the scheduler are written against. Production code uses
// std_atomics; the model tests put an instrumented twin in its place and drive a protocol through
// all interleavings of a small case. A protocol must touch shared memory through this alone.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace quern::detail {

struct std_atomics {
    template <class T>
    using atomic = std::atomic<T>;

    /// A variable that the protocol itself keeps free of races.
    template <class T>
    using plain = T;

    /// Tells the core that this is a spin loop.
    static void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        asm volatile("yield" ::: "memory");
#endif
    }

    /// Sleeps while `word == expected`. May return early; the caller checks again.
    static void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;

    /// The same with a limit. Returns false when the time ran out.
    static bool futex_wait_for(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                               std::chrono::nanoseconds limit) noexcept;

    /// Wakes at most `count` sleepers on `word`.
    static void futex_wake(std::atomic<std::uint32_t>& word, int count) noexcept;
};

}  // namespace quern::detail
