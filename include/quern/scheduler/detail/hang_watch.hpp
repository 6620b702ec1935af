// SPDX-License-Identifier: BSL-1.0
// When to report that a program hangs. The last worker of a pool that goes to sleep while tasks are
// suspended checks after half a second whether anything can still wake them, then ever less often.
// While a worker is awake there are no checks, so a working program pays nothing. Argument:
// src/scheduler/README.md, section "Hangs".
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace quern::detail {

class pool;

struct hang_report_mode {
    bool enabled = false;
    /// Report after this time without any work, even if something might still wake a task.
    std::optional<std::chrono::seconds> patience{};
};

/// Lies on the frame of a worker that is about to sleep.
class hang_watch {
public:
    explicit hang_watch(pool& of) noexcept;

    /// Whether to check again, after pause().
    bool is_kept() const noexcept { return m_kept; }
    std::chrono::nanoseconds pause() const noexcept { return m_pause; }

    /// Called by the sleeping worker, which still counts as asleep. Writes the report to stderr,
    /// once, if nothing in the process can wake the suspended tasks.
    void look() noexcept;

private:
    bool m_kept;
    std::chrono::nanoseconds m_pause;
    std::uint64_t m_begun = 0;  ///< items that all pools had begun at the last check
};

}  // namespace quern::detail
