// SPDX-License-Identifier: BSL-1.0
// The atomics that the scheduler's protocols are templates on. Production code uses std_atomics;
// the model tests use an instrumented version and run a protocol through all interleavings of a
// small case. A protocol must access shared memory only through these.
#pragma once

#include <quern/base/detail/config.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>

#include <sched.h>

namespace quern::detail {

struct std_atomics {
    template <class T>
    using atomic = std::atomic<T>;

    /// A variable that the protocol itself keeps free of races.
    template <class T>
    using plain = T;

    /// Hints to the core that this is a spin loop.
    static void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        asm volatile("yield" ::: "memory");
#endif
    }

    /// Backs off between two checks of a short critical section of another thread, after `spins`
    /// checks. Yields to the operating system when that thread seems to be preempted.
    static void back_off(int& spins) noexcept {
        if (++spins < k_spins_before_yield) {
            pause();
        } else {
            ::sched_yield();
        }
    }

    /// The two halves of an asymmetric fence: if one thread stores and passes the light one, and
    /// another stores and passes the heavy one, at least one sees the other's store. The light one
    /// costs nothing. The heavy one makes all threads of the process execute a fence: 0.5 to 5 us
    /// and an interrupt for each running thread. False if the system has none.
    static void light_barrier() noexcept { compiler_barrier(); }
    static bool heavy_barrier() noexcept;
    static bool has_heavy_barrier() noexcept;

    /// Sleeps while `word == expected`. May return early; the caller checks again.
    static void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;

    /// As above with a timeout. Returns false when the time ran out.
    static bool futex_wait_for(std::atomic<std::uint32_t>& word, std::uint32_t expected,
                               std::chrono::nanoseconds limit) noexcept;

    /// Wakes at most `count` sleepers on `word`.
    static void futex_wake(std::atomic<std::uint32_t>& word, int count) noexcept;

private:
    /// Pauses; about 2-5 us, longer than any critical section of a running holder (guessed).
    static constexpr int k_spins_before_yield = 100;
};

}  // namespace quern::detail
