// SPDX-License-Identifier: BSL-1.0
// What a pool waits for besides work: timers and outstanding operations of pollers, and the
// sleeping worker that looks after them, the watch. Protocol: src/scheduler/README.md, sections
// "Time" and "Pollers".
#pragma once

#include <quern/scheduler/detail/timers.hpp>
#include <quern/scheduler/pollers.hpp>

#include <atomic>

namespace quern::detail {

class worker_shared;

class pool_time {
public:
    timer_queue& timers() noexcept { return m_timers; }
    poller_list& pollers() noexcept { return m_pollers; }

    /// Whether there is a timer or an outstanding operation, for one who looks often.
    bool any() const noexcept { return m_timers.any() || m_pollers.any(); }
    /// The same exactly.
    bool needs_watch() const noexcept { return !m_timers.empty() || !m_pollers.none(); }

    /// The watch, or null.
    worker_shared* watch(std::memory_order how = std::memory_order_seq_cst) const noexcept {
        return m_watch.load(how);
    }
    /// False: another worker is the watch.
    bool try_begin_watch(worker_shared& self) noexcept {
        worker_shared* none = nullptr;
        return m_watch.compare_exchange_strong(none, &self, std::memory_order_seq_cst);
    }
    /// Called by the watch.
    void end_watch() noexcept { m_watch.exchange(nullptr, std::memory_order_seq_cst); }

private:
    poller_list m_pollers;
    timer_queue m_timers;
    std::atomic<worker_shared*> m_watch{nullptr};
};

}  // namespace quern::detail
