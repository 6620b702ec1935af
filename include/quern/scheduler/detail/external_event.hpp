// SPDX-License-Identifier: BSL-1.0
// How a thread that is not a worker waits: it sleeps until the event is set. Lies on the waiting
// thread's stack; set() is the setter's last access.
#pragma once

#include <quern/base/detail/atomics.hpp>
#include <quern/scheduler/detail/process_registry.hpp>

#include <chrono>

namespace quern::detail {

class external_event {
public:
    /// Called once. The event may be destroyed before this returns, so the wake-up must not access
    /// it; a futex wake on a stale address is harmless.
    void set() noexcept {
        m_word.store(1, std::memory_order_release);  // pairs with wait
        std_atomics::futex_wake(m_word, 1);
    }

    bool is_set() const noexcept { return m_word.load(std::memory_order_acquire) != 0; }

    void wait(const wait_reason& why = {}) noexcept {
        if (!is_set()) {
            const outside_wait here(*this, why, registers_here());
            while (!is_set()) {
                std_atomics::futex_wait(m_word, 0);
            }
        }
    }

    /// False when the deadline passed first; then the caller must keep the event alive until no
    /// thread can set it any more.
    bool wait_until(std::chrono::steady_clock::time_point deadline) noexcept {
        while (!is_set()) {
            const auto now = std::chrono::steady_clock::now();
            if (deadline <= now) {  // compared first: the difference may overflow
                return false;
            }
            std_atomics::futex_wait_for(m_word, 0, deadline - now);
        }
        return true;
    }

private:
    std::atomic<std::uint32_t> m_word{0};
};

}  // namespace quern::detail
