// SPDX-License-Identifier: BSL-1.0
// When to say that a program hangs. The last worker of a pool that goes to sleep while tasks are
// suspended looks after half a second whether anything can still wake them, and then ever less
// often: while somebody is awake nobody looks, so a program that works pays nothing.
// Argument: src/scheduler/README.md, section "Hangs".
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace quern::detail {

class pool;

/// The setting hang_report.
struct hang_report_mode {
    bool enabled = false;
    /// Report after so long without any work, even though something might still wake a task.
    std::optional<std::chrono::seconds> patience{};
};

/// Lies on the frame of a worker that is about to sleep.
class hang_watch {
public:
    explicit hang_watch(pool& of) noexcept;

    /// Whether to look again, after pause().
    bool is_kept() const noexcept { return m_kept; }
    std::chrono::nanoseconds pause() const noexcept { return m_pause; }

    /// Called by the sleeping worker, which still counts as asleep. Writes the report to stderr,
    /// once, if nothing in the process can wake the suspended tasks.
    void look() noexcept;

private:
    bool m_kept;
    std::chrono::nanoseconds m_pause;
    std::uint64_t m_begun = 0;  ///< items that all pools had begun at the last look
};

}  // namespace quern::detail
