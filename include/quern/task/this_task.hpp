// SPDX-License-Identifier: BSL-1.0
// Queries and operations of the running task. Every function may also be called by a thread that is
// no worker. There it acts like std::this_thread, or returns the value named below.
#pragma once

#include <quern/scheduler/detail/context.hpp>
#include <quern/scheduler/detail/timers.hpp>
#include <quern/scheduler/detail/wait_reason.hpp>
#include <quern/scheduler/work.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>

namespace quern::detail {

/// The first of `count` consecutive unused task numbers.
std::uint64_t new_task_id(std::uint64_t count = 1) noexcept;

}  // namespace quern::detail

namespace quern {

/// A suspended task, to be resumed once. Movable. Its destructor resumes the task, so that none is
/// lost.
class suspended_task {
public:
    explicit suspended_task(detail::context& c) noexcept : m_context(&c) {}
    suspended_task(suspended_task&& other) noexcept
        : m_context(std::exchange(other.m_context, nullptr)) {}
    suspended_task& operator=(suspended_task&& other) noexcept {
        suspended_task(std::move(other)).swap(*this);
        return *this;
    }
    ~suspended_task() { resume(); }

    void swap(suspended_task& other) noexcept { std::swap(m_context, other.m_context); }

    explicit operator bool() const noexcept { return m_context != nullptr; }

    /// Makes the task ready. The second and later calls do nothing. Any thread.
    void resume() noexcept {
        if (detail::context* c = std::exchange(m_context, nullptr)) {
            detail::resume(*c);
        }
    }

private:
    detail::context* m_context;
};

namespace this_task {

/// Whether the caller is a task that can be suspended; false in a blocking_region.
inline bool is_task() noexcept { return detail::current_context() != nullptr; }

/// Runs everything that is ready now, then continues, perhaps on another worker.
void yield() noexcept;

/// Waits without a worker until the time. Lateness: as a thread's, plus the time until a worker is
/// free when all of them run tasks. Cost: about a suspension.
void sleep_until(std::chrono::steady_clock::time_point when) noexcept;

template <class Clock, class Duration>
void sleep_until(const std::chrono::time_point<Clock, Duration>& when) noexcept {
    for (auto now = Clock::now(); now < when; now = Clock::now()) {  // a clock may be set back
        this_task::sleep_until(detail::due_after(when - now));
    }
}

template <class Rep, class Period>
void sleep_for(const std::chrono::duration<Rep, Period>& time) noexcept {
    if (time > time.zero()) {
        this_task::sleep_until(detail::due_after(time));
    }
}

inline constexpr detail::wait_kind k_own_suspension{"whom it gave itself to, to be resumed"};

/// Throws std::logic_error unless the caller is a task.
void require_task();

/// Leaves the worker and then calls `hand_over(suspended_task)`, which stores the task until it is
/// resumed. `hand_over` runs on the same worker after the task's stack has been left. As soon as
/// the task may be resumed, `hand_over` must not access anything of the task. It must not throw.
/// Throws std::logic_error if the caller is no task.
///
///     quern::this_task::suspend([&](quern::suspended_task me) { device.when_done(std::move(me));
///     });
template <class HandOver>
void suspend(HandOver&& hand_over) {
    require_task();
    auto publish = [&hand_over](detail::context& self) {
        hand_over(suspended_task(self));
        return true;
    };
    detail::suspend(publish, {&k_own_suspension});
}

/// A number unique to this task in the process; 0 for a thread that is no worker. Forked children
/// that their parent runs itself count as part of the parent. A coroutine gets a new number each
/// time it is resumed: each stretch between waits counts as a task.
std::uint64_t id() noexcept;

/// The name given in its attributes, or null.
const char* name() noexcept;

/// Its priority; normal for a thread that runs no task.
priority get_priority() noexcept;

/// Bytes of stack below the caller; the largest std::size_t for a thread that runs no task.
std::size_t stack_left() noexcept;

}  // namespace this_task
}  // namespace quern
