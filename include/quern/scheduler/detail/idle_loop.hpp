// SPDX-License-Identifier: BSL-1.0
// What a worker does when it has nothing to run: it searches, sleeps, keeps watch over the time,
// looks for hangs, and obeys the knob active-workers. Only the worker's own thread, or the guest in
// its place. Bodies: src/scheduler/worker/{search,parking,watch,guest}.cpp; protocols:
// src/scheduler/README.md.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/scheduler/detail/yield_budget.hpp>
#include <quern/scheduler/work.hpp>

#include <chrono>
#include <cstdint>

namespace quern::detail {

class pool_shared;
class worker;

/// What a worker counts as in its pool's gate while it asks pollers.
enum class idle_part : std::uint8_t { none, searching, watching };

class idle_loop {
public:
    explicit idle_loop(worker& self) noexcept;

    /// The next item, or null when the pool ends.
    work* search_and_park() noexcept;
    /// Sleeps while the worker is throttled. The result is an item pinned to it, or null.
    work* obey_throttle() noexcept;

    /// Whether a timer or a poller is due.
    bool has_due() const noexcept;
    /// Fires timers and asks pollers that are due.
    void look_after_time(idle_part part) noexcept;
    /// Called before an item that may run long.
    void see_to_watch() noexcept;
    /// Before the loop's context suspends: it may be in a poller.
    void leave_if_asking() noexcept {
        if (m_asks_as != idle_part::none) [[unlikely]] {
            leave_idle();
        }
    }
    /// A guest has left the place of the worker, which sleeps.
    void leave_to_sleeper() noexcept;

private:
    work* search() noexcept;
    void stop_searching() noexcept;
    void park() noexcept;
    void ask_all_others() noexcept;
    void sleep() noexcept;
    void sleep_watching_for_hangs() noexcept;
    void fire_timers() noexcept;
    bool ask_pollers(idle_part part) noexcept;
    QUERN_COLD void leave_idle() noexcept;
    bool act_as_watch() noexcept;
    std::chrono::nanoseconds until_next_look() const noexcept;

    worker& m_self;
    pool_shared& m_pool;
    idle_part m_asks_as = idle_part::none;
    yield_budget m_yields;  ///< of its searches
};

}  // namespace quern::detail
