// SPDX-License-Identifier: BSL-1.0
// The workers of a pool that sleep because the knob active-workers is below their rank. They do not
// count in the gate.
#pragma once

#include <quern/base/detail/atomics.hpp>

#include <atomic>
#include <cstdint>

namespace quern::detail {

class throttled_workers {
public:
    void enter() noexcept { m_count.fetch_add(1, std::memory_order_seq_cst); }
    void leave() noexcept { m_count.fetch_sub(1, std::memory_order_seq_cst); }
    std::uint32_t count(std::memory_order how = std::memory_order_seq_cst) const noexcept {
        return m_count.load(how);
    }

    /// Sleeps unless wake_all() has been called since `seen` was read. May return early.
    void sleep(std::uint32_t seen) noexcept { std_atomics::futex_wait(m_word, seen); }
    std::uint32_t word() const noexcept { return m_word.load(std::memory_order_seq_cst); }
    /// The knob has changed, one of them has got an item pinned to it, or the pool ends. `most`:
    /// workers.
    void wake_all(std::uint32_t most) noexcept {
        m_word.fetch_add(1, std::memory_order_seq_cst);
        std_atomics::futex_wake(m_word, static_cast<int>(most));
    }

private:
    std::atomic<std::uint32_t> m_count{0};
    std::atomic<std::uint32_t> m_word{0};
};

}  // namespace quern::detail
