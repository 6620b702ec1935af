// SPDX-License-Identifier: BSL-1.0
// A hold keeps a task incomplete after its function has returned, for operations that the task
// starts and that finish elsewhere: messages, transfers, device calls.
#pragma once

#include <quern/scheduler/detail/task_holds.hpp>

#include <utility>

namespace quern {

/// Keeps a task incomplete until the hold is dropped or destroyed. Movable. Any thread may drop it,
/// also after the program has given up all other references to the task.
class task_hold {
public:
    task_hold() noexcept = default;  ///< empty
    explicit task_hold(detail::task_holds& of) noexcept : m_of(&of) { of.add(); }
    task_hold(task_hold&& other) noexcept : m_of(std::exchange(other.m_of, nullptr)) {}
    task_hold& operator=(task_hold&& other) noexcept {
        task_hold(std::move(other)).swap(*this);
        return *this;
    }
    ~task_hold() { drop(); }

    void swap(task_hold& other) noexcept { std::swap(m_of, other.m_of); }

    explicit operator bool() const noexcept { return m_of != nullptr; }

    /// Drops the hold. Later calls do nothing. When the last hold is dropped and the function has
    /// returned, the task is complete: its future is ready, its group has one task less, its
    /// successors are ready.
    void drop() noexcept {
        if (detail::task_holds* const of = std::exchange(m_of, nullptr)) {
            of->drop();
        }
    }

private:
    detail::task_holds* m_of = nullptr;
};

namespace this_task {

/// Holds the calling task. Its waiters (a future, a group, a join, a dependence) wait until its
/// function has returned and all its holds have been dropped. A task of async, post, a group or a
/// continuation keeps its stack meanwhile, but no worker.
///
/// Errors: std::logic_error if the caller is no task, or is a coroutine, which can co_await
/// instead; std::bad_alloc. A hold that is never dropped leaves the task suspended; a hang report
/// says so.
/// Thread safety: called by the task itself. Cost: a block of 32 bytes for the first one; a
/// suspension if it is still held at the end.
///
///     quern::async([&] {
///         auto hold = std::make_shared<quern::task_hold>(quern::this_task::hold());
///         device.when_done([hold] { hold->drop(); });
///     }).get();  // the device is done
task_hold hold();

}  // namespace this_task
}  // namespace quern
