// SPDX-License-Identifier: BSL-1.0
// Locks of four bytes, which sleep in the kernel; for critical regions and omp_lock_t. The word has
// the thread that holds it, for reports of hangs.
#pragma once

#include "core/waiting.hpp"

#include <quern/base/detail/atomics.hpp>
#include <quern/base/detail/config.hpp>

#include <atomic>
#include <cstdint>

#include <sys/types.h>

namespace quern::omp {

extern constinit thread_local std::uint32_t tls_thread_number;  ///< 0: not asked for yet

/// Locks that the calling thread holds, counted from any number: 0 means none, unless locks pass
/// between threads. Then it is wrong on the safe side: tasks of this thread are not left.
extern constinit thread_local std::int32_t tls_held_locks;

/// The calling thread, as the kernel numbers it.
QUERN_COLD std::uint32_t number_this_thread() noexcept;

/// All bits zero: free. Lies in the program's memory.
class word_lock {
public:
    /// `kind`: what reports call it while a thread waits.
    void lock(const detail::wait_kind& kind = k_lock_wait) noexcept {
        if (!try_lock()) {
            wait_and_lock(kind);
        }
    }
    bool try_lock() noexcept {
        std::uint32_t expected = k_free;
        const bool is_taken = m_word.compare_exchange_strong(
            expected, this_thread(), std::memory_order_acquire, std::memory_order_relaxed);
        tls_held_locks += is_taken ? 1 : 0;
        return is_taken;
    }
    void unlock() noexcept {
        --tls_held_locks;
        if ((m_word.exchange(k_free, std::memory_order_release) & k_contended) != 0) {
            const errno_kept kept;
            detail::std_atomics::futex_wake(m_word, 1);
        }
    }
    bool is_held() const noexcept { return m_word.load(std::memory_order_relaxed) != k_free; }
    /// The thread that holds it, as the kernel numbers it; 0: none.
    pid_t holder() const noexcept {
        return static_cast<pid_t>(m_word.load(std::memory_order_relaxed) & ~k_contended);
    }
    void reset() noexcept { m_word.store(k_free, std::memory_order_relaxed); }

private:
    static constexpr std::uint32_t k_free = 0;
    static constexpr std::uint32_t k_contended = std::uint32_t{1} << 31;

    static std::uint32_t this_thread() noexcept {
        const std::uint32_t known = tls_thread_number;
        return known != 0 ? known : number_this_thread();
    }
    QUERN_COLD void wait_and_lock(const detail::wait_kind& kind) noexcept;

    std::atomic<std::uint32_t> m_word;
};
static_assert(sizeof(word_lock) == 4, "gcc's omp_lock_t has four bytes");

}  // namespace quern::omp
