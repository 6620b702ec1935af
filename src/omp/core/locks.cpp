// SPDX-License-Identifier: BSL-1.0
// How a thread waits for a lock.
#include "core/locks.hpp"

#include "core/observing.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>

namespace quern::omp {

namespace {

constexpr int k_lock_pauses = 200;
constexpr int k_lock_yields = 3;
/// A thread that waits longer looks for hangs in these intervals.
constexpr std::chrono::nanoseconds k_lock_sleep{100'000'000};

}  // namespace

constinit thread_local std::uint32_t tls_thread_number = 0;
constinit thread_local std::int32_t tls_held_locks = 0;

/// A child of fork() keeps the number of the parent's thread; only reports of hangs read it.
std::uint32_t number_this_thread() noexcept {
    tls_thread_number = static_cast<std::uint32_t>(::syscall(SYS_gettid));
    return tls_thread_number;
}

void word_lock::wait_and_lock(const detail::wait_kind& kind) noexcept {
    const errno_kept kept;
    for (int i = 0; i < k_lock_pauses + k_lock_yields; ++i) {
        if (!is_held() && try_lock()) {
            return;
        }
        if (i < k_lock_pauses) {
            detail::std_atomics::pause();
        } else {
            ::sched_yield();
        }
    }
    const detail::wait_reason why{&kind, this};
    const auto is_free = [this] { return !is_held(); };
    const noted_wait noted(&why);
    long_wait lasts(1);
    const std::uint32_t taken = this_thread() | k_contended;  // there may be more that wait
    for (std::uint32_t seen = m_word.load(std::memory_order_relaxed);;) {
        if (seen == k_free) {
            if (m_word.compare_exchange_weak(seen, taken, std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
                ++tls_held_locks;
                return;
            }
            continue;
        }
        if ((seen & k_contended) == 0 &&
            !m_word.compare_exchange_weak(seen, seen | k_contended, std::memory_order_relaxed)) {
            continue;
        }
        detail::std_atomics::futex_wait_for(m_word, seen | k_contended, k_lock_sleep);
        seen = m_word.load(std::memory_order_relaxed);
        if (seen != k_free && lasts.is_due()) [[unlikely]] {
            lasts.look(why, end_when(is_free), false, detail::registers_here());
        }
    }
}

}  // namespace quern::omp
