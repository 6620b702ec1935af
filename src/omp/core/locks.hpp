// SPDX-License-Identifier: BSL-1.0
// Locks of four bytes, which sleep in the kernel; for critical regions and omp_lock_t.
#pragma once

#include "core/waiting.hpp"

#include <quern/base/detail/atomics.hpp>

#include <atomic>
#include <cstdint>

#include <sched.h>

namespace quern::omp {

/// All bits zero: free. Lies in the program's memory.
class word_lock {
public:
    void lock() noexcept {
        std::uint32_t expected = k_free;
        if (!m_word.compare_exchange_strong(expected, k_held, std::memory_order_acquire,
                                            std::memory_order_relaxed)) {
            wait_and_lock();
        }
    }
    bool try_lock() noexcept {
        std::uint32_t expected = k_free;
        return m_word.compare_exchange_strong(expected, k_held, std::memory_order_acquire,
                                              std::memory_order_relaxed);
    }
    void unlock() noexcept {
        if (m_word.exchange(k_free, std::memory_order_release) == k_contended) {
            const errno_kept kept;
            detail::std_atomics::futex_wake(m_word, 1);
        }
    }
    bool is_held() const noexcept { return m_word.load(std::memory_order_relaxed) != k_free; }
    void reset() noexcept { m_word.store(k_free, std::memory_order_relaxed); }

private:
    static constexpr std::uint32_t k_free = 0;
    static constexpr std::uint32_t k_held = 1;
    static constexpr std::uint32_t k_contended = 2;
    static constexpr int k_pauses = 200;
    static constexpr int k_yields = 3;

    QUERN_COLD void wait_and_lock() noexcept {
        const errno_kept kept;
        for (int i = 0; i < k_pauses + k_yields; ++i) {
            if (!is_held() && try_lock()) {
                return;
            }
            if (i < k_pauses) {
                detail::std_atomics::pause();
            } else {
                ::sched_yield();
            }
        }
        while (m_word.exchange(k_contended, std::memory_order_acquire) != k_free) {
            detail::std_atomics::futex_wait(m_word, k_contended);
        }
    }

    std::atomic<std::uint32_t> m_word;
};
static_assert(sizeof(word_lock) == 4, "gcc's omp_lock_t has four bytes");

}  // namespace quern::omp
