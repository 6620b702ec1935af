// SPDX-License-Identifier: BSL-1.0
// Variables with one value per task: thread_local for tasks, which may change threads. The values
// are in the chain of the task's context (scheduler/detail/task_locals.hpp).
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/scheduler/detail/task_locals.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

namespace quern {

namespace detail {

/// A new number.
std::uint64_t new_task_local() noexcept;

/// The chain of the calling task or thread. Its address is stable for the task's lifetime, on any
/// worker.
task_locals& own_task_locals() noexcept;

}  // namespace detail

/// A variable with one value per task. The value is created on the task's first access. It is
/// destroyed when the task ends, before the end is visible to others. Several values are destroyed
/// in reverse order of creation. The value stays with a task that waits and resumes on another
/// worker. Nothing is inherited: children of a task begin without values.
///
/// Tasks are those of this_task::id(): a forked child that its parent runs itself shares the
/// parent's value, a stolen one has its own. A queued task has its own, even if its waiter runs it,
/// and in a blocking_region too. In a coroutine each stretch between two suspensions is a task, and
/// its values are destroyed at the end of the stretch; keep longer-lived data in the frame. A
/// thread that is no worker has its own value until the thread ends. Tasks abandoned at the end of
/// their runtime keep theirs.
///
/// Usually static. A variable may be destroyed before the tasks that have used it end.
///
/// Errors: what the value's constructor or the initialiser throws; std::bad_alloc. Then there is no
/// value. A destructor that throws ends the program; a destructor may wait.
/// Thread safety: any thread and any task. A reference may be used only by the task that obtained
/// it.
/// Cost: the first access allocates. Later ones search the task's values linearly, about 6 ns for
/// the first. A task without values pays a branch at its end.
///
///     static quern::task_local<int> depth;                                     // zero
///     static quern::task_local<buffer> scratch([] { return buffer(4096); });   // by a function
///     if (++*depth > limit) prune();
template <class T>
class task_local {
    static_assert(std::is_object_v<T> && !std::is_const_v<T>);

public:
    /// Values are T().
    task_local() requires std::default_initializable<T> : task_local([] { return T(); }) {}

    /// Values are what the function returns; it runs in the accessing task.
    template <class F>
        requires std::is_invocable_r_v<T, F&>
    explicit task_local(F initialiser)
        : m_initialiser(std::move(initialiser)), m_variable(detail::new_task_local()) {}

    /// Values are copies.
    explicit task_local(const T& initial) requires std::copy_constructible<T> &&
        (!std::is_invocable_r_v<T, const T&>)
        : task_local([initial]() -> T { return initial; }) {}

    task_local(const task_local&) = delete;
    task_local& operator=(const task_local&) = delete;

    /// The caller's value; created if there is none.
    T& get() const {
        detail::task_locals& own = detail::own_task_locals();
        if (detail::task_local_value* there = own.find(m_variable)) {
            return static_cast<held&>(*there).value;
        }
        auto* fresh = new held(*this);
        own.add(*fresh);
        return fresh->value;
    }
    T& operator*() const { return get(); }
    T* operator->() const { return &get(); }

    bool has_value() const noexcept {
        return detail::own_task_locals().find(m_variable) != nullptr;
    }

private:
    struct held final : detail::task_local_value {
        explicit held(const task_local& of)
            : task_local_value(
                  of.m_variable,
                  [](task_local_value& self) noexcept { delete static_cast<held*>(&self); }),
              value(of.m_initialiser()) {}
        T value;
    };

    std::function<T()> m_initialiser;
    const std::uint64_t m_variable;
};

}  // namespace quern
