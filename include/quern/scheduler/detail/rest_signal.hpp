// SPDX-License-Identifier: BSL-1.0
// Tells a thread that waits for the end of a pool that all workers sleep. It may come in vain: the
// thread checks then. Protocol: src/scheduler/README.md, section "Ending".
#pragma once

#include <quern/base/detail/atomics.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace quern::detail {

class rest_signal {
public:
    /// A thread waits from now on.
    void want() noexcept { m_wanted.store(true, std::memory_order_seq_cst); }
    bool is_wanted() const noexcept { return m_wanted.load(std::memory_order_seq_cst); }

    void give() noexcept {
        m_word.fetch_add(1, std::memory_order_seq_cst);
        std_atomics::futex_wake(m_word, 1);
    }
    std::uint32_t word() const noexcept { return m_word.load(std::memory_order_seq_cst); }
    /// Sleeps unless a signal was given since `seen` was read, for at most that long.
    void wait(std::uint32_t seen, std::chrono::nanoseconds most) noexcept {
        std_atomics::futex_wait_for(m_word, seen, most);
    }

private:
    std::atomic<bool> m_wanted{false};
    std::atomic<std::uint32_t> m_word{0};
};

}  // namespace quern::detail
