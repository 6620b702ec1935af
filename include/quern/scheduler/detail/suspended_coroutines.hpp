// SPDX-License-Identifier: BSL-1.0
// The coroutines of a pool that wait: how many there are, and notes on them for reports.
#pragma once

#include <quern/scheduler/detail/coroutine_notes.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace quern::detail {

class suspended_coroutines {
public:
    explicit suspended_coroutines(std::size_t workers) : m_notes(workers) {}

    /// A coroutine, which the item will resume, begins to wait here: on a worker, which counts it,
    /// or on a thread outside. Returns under which number that is noted, if it is.
    std::int32_t leaves(const runnable& who, const coroutine_marks& marks,
                        const wait_reason& why) noexcept;
    /// It runs again, on a worker, or resumes where it began to wait.
    void is_back() noexcept;

    coroutine_notes& notes() noexcept { return m_notes; }
    const coroutine_notes& notes() const noexcept { return m_notes; }
    /// Those that threads outside have left.
    std::uint64_t left_outside() const noexcept {
        return m_outside.load(std::memory_order_relaxed);
    }

private:
    coroutine_notes m_notes;
    std::atomic<std::uint64_t> m_outside{0};
};

}  // namespace quern::detail
