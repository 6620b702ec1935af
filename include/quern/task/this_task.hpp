// SPDX-License-Identifier: BSL-1.0
// What a task can ask about itself and do with itself. Every function may also be called by a
// thread that is no worker; there it does what std::this_thread would, or gives the value named
// below.
#pragma once

#include <quern/scheduler/context.hpp>
#include <quern/scheduler/timers.hpp>
#include <quern/scheduler/wait_reason.hpp>
#include <quern/scheduler/work.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>

namespace quern::detail {

/// The first of so many consecutive numbers that no task has had.
std::uint64_t new_task_id(std::uint64_t count = 1) noexcept;

}  // namespace quern::detail

namespace quern {

/// A task that has suspended itself, to be resumed once. Movable. Destroyed without that, it
/// resumes the task, so that none is lost.
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

    /// Whether there is still somebody to resume.
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

/// Whether the caller is a task that can be suspended: not so in a blocking_region.
inline bool is_task() noexcept { return detail::current_context() != nullptr; }

/// Lets everything run that is ready now, and goes on afterwards, perhaps on another worker.
void yield() noexcept;

/// Waits without a worker until the time has come. Lateness: as a thread's, plus what the workers
/// have to finish first when all of them run tasks. Cost: about that of a suspension.
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

/// Leaves the worker and then calls `hand_over(suspended_task)`, which keeps the task somewhere
/// until somebody resumes it. `hand_over` runs on the same worker after the task's stack has been
/// left; as soon as the task may be resumed, it must not touch anything of the task's. It must not
/// throw. Throws std::logic_error when the caller is no task.
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

/// A number that no other task of the process has or had; 0 for a thread that is no worker. Forked
/// children that their parent runs itself are part of the parent. A coroutine gets another one each
/// time that it goes on after a wait: from wait to wait it counts as a task.
std::uint64_t id() noexcept;

/// The name it was given, or null.
const char* name() noexcept;

/// Its priority; normal for a thread that runs no task.
priority get_priority() noexcept;

/// Bytes of stack that are left below the caller; for a thread that runs no task the largest
/// std::size_t.
std::size_t stack_left() noexcept;

}  // namespace this_task
}  // namespace quern
