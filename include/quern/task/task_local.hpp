// SPDX-License-Identifier: BSL-1.0
// Variables that each task has for itself: what thread_local is to threads, for tasks that change
// threads. The values stand in the chain of the task's context (scheduler/task_locals.hpp).
#pragma once

#include <quern/base/config.hpp>
#include <quern/scheduler/task_locals.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

namespace quern {

namespace detail {

/// A number that no variable has had.
std::uint64_t new_task_local() noexcept;

/// The chain of the calling task, or of the calling thread. Stays where it is for as long as the
/// task lives, wherever it goes on.
task_locals& own_task_locals() noexcept;

}  // namespace detail

/// A variable of which every task has a value of its own. The value is made when the task first
/// asks for it and destroyed when the task ends, before anybody learns of the end (of a coroutine
/// and of a function of when_each: soon afterwards); several in the reverse order of their making.
/// It stays with the task when that waits and goes on on another worker. Nothing is inherited: the
/// children of a task begin without values.
///
/// A task is what this_task::id() calls one: a forked child that its parent runs itself shares the
/// parent's value, one that is stolen has its own; a queued task has its own, also where its waiter
/// runs it. The same holds in a blocking_region. Of a coroutine every stretch between two
/// suspensions is a task, and its values go when the stretch ends: keep in the frame what must
/// live longer. A thread that is no worker has its own value, which is destroyed when the thread
/// ends. Tasks that are abandoned at the end of their runtime keep theirs.
///
/// Usually static; a variable may also be destroyed before the tasks that have used it end.
///
/// Errors: what the constructor of the value or the initialiser throws; std::bad_alloc. Then there
/// is no value. A destructor that throws ends the program; it may wait.
/// Thread safety: any thread and any task; a reference is for the task alone that asked.
/// Cost: the first use an allocation; later ones a look through those that the task has used, about
/// 6 ns for the first of them. A task that uses none pays a branch at its end.
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

    /// Values are what the function returns; it runs in the task that asks.
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

    /// The caller's value; makes it if there is none.
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

    /// Whether the caller has a value yet.
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
