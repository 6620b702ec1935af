// SPDX-License-Identifier: BSL-1.0
// A lock for a few instructions of the runtime's own slow paths. Waiting threads check it less and
// less often, so that the holder keeps the cache line, and yield to the operating system when the
// holder seems to be preempted (more workers than cores). User code never runs while it is held. A
// context never suspends while it holds one, unless the code that runs after the switch releases
// it.
#pragma once

#include <quern/base/detail/atomics.hpp>

namespace quern::detail {

class spin_lock {
public:
    void lock() noexcept {
        if (m_held.exchange(true, std::memory_order_acquire)) [[unlikely]] {  // pairs with unlock
            wait_and_lock(k_pauses);
        }
    }

    bool try_lock() noexcept {
        return !m_held.load(std::memory_order_relaxed) &&
               !m_held.exchange(true, std::memory_order_acquire);  // pairs with unlock
    }

    /// False: the last holder is done with the protected data and with the lock itself.
    bool is_held() const noexcept {
        return m_held.load(std::memory_order_acquire);  // pairs with unlock
    }

    void unlock() noexcept { m_held.store(false, std::memory_order_release); }  // pairs with lock

protected:
    /// The slow path of lock(): `pauses` before the next check, then more and more.
    void wait_and_lock(int pauses) noexcept;

    std::atomic<bool> m_held{false};

private:
    /// About 0.3 us. Two threads that do little else than take the lock need 20 ns for each section
    /// with this number, 51 with 1, 12 with 16. Beside 40 ns of other work: 78, 99 and 59.
    static constexpr int k_pauses = 8;
};

/// A lock that several threads take again and again with little between, such as that of a queue.
/// It waits longer, so that the holder can enter several times while the cache line stays with it.
class crowded_lock : public spin_lock {
public:
    void lock() noexcept {
        if (m_held.exchange(true, std::memory_order_acquire)) [[unlikely]] {  // pairs with unlock
            wait_and_lock(k_pauses);
        }
    }

private:
    /// Two senders into an unbounded channel need 17 to 62 ns for each value with this number, 23
    /// to 156 with 16, 99 to 202 with 8.
    static constexpr int k_pauses = 32;
};

}  // namespace quern::detail
