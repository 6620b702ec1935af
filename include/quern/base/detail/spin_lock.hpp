// SPDX-License-Identifier: BSL-1.0
// A lock for a few instructions of the runtime's own slow paths. It yields to the operating system
// when the holder seems to be preempted (more workers than cores). User code never runs while it is
// held. A context never suspends while it holds one, unless the code that runs after the switch
// releases it.
#pragma once

#include <quern/base/detail/atomics.hpp>

namespace quern::detail {

class spin_lock {
public:
    void lock() noexcept {
        int spins = 0;
        while (m_held.exchange(true, std::memory_order_acquire)) {  // pairs with unlock
            while (m_held.load(std::memory_order_relaxed)) {
                std_atomics::back_off(spins);
            }
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

private:
    std::atomic<bool> m_held{false};
};

}  // namespace quern::detail
