// SPDX-License-Identifier: BSL-1.0
// What a running dependent task does with its accesses before it has ended: releases some, or holds
// all of them beyond the end of its function.
#pragma once

#include <quern/dependences/access.hpp>
#include <quern/dependences/detail/domain_core.hpp>
#include <quern/task/task_hold.hpp>

#include <array>
#include <span>

namespace quern {

namespace detail {

void release_accesses(std::span<const wanted_region> which);

}  // namespace detail

/// Keeps the accesses of a task after its function has returned: for messages and devices that
/// still use the data. Movable; any thread may drop it. See task_hold.
using access_hold = task_hold;

namespace this_task {

/// The task needs these of its accesses no longer: tasks that wait for them may begin now. Children
/// that use them are waited for first; no later child may use them. One that overlaps with another
/// access of the task is kept as long as that. They are named as in spawn(), with the same kind
/// (`out` and `inout` are one) and region, or a part of that: then tasks begin that use no other
/// byte of the access. Weak and commutative accesses and reductions have no parts. If a child has
/// failed, or fails before those that use an access have ended, that access is kept until the end
/// of the task: no task runs on data that were not computed. A child in the place of its creation,
/// in a final task, names its own accesses; they are released with that task.
///
/// Errors: std::logic_error if the caller is no dependent task; std::invalid_argument for an access
/// that the task does not have, or has released; then none of them is released. Thread safety:
/// called by the task itself. Cost: a search among the task's accesses; of a part, some hundred
/// nanoseconds, and a look at its rows and at each task that waits for the access.
///
///     quern::domain work;
///     int a = 0, b = 0;
///     work.spawn(quern::out(a), quern::out(b), [](int& x, int& y) {
///         x = 1;
///         quern::this_task::release(quern::out(x));  // the next task may begin
///         y = 2;
///     });
///     work.spawn(quern::in(a), [](const int& x) { std::printf("%d\n", x); });
template <detail::an_access... Accesses>
void release(const Accesses&... accesses) {
    detail::domain_core& home = detail::domain_of_running_task("this_task::release");
    const std::array<detail::wanted_region, sizeof...(Accesses)> which{
        detail::wanted_of(accesses, home)...};
    detail::release_accesses(which);
}

/// The calling task is complete when its function has returned and this and its other holds have
/// been dropped: all of its accesses, and the captures of the function, are kept until then. The
/// thread that drops the last one destroys the captures. One that is itself among them keeps the
/// task for ever.
///
/// Errors: std::logic_error if the caller is no dependent task. Cost: an addition.
///
///     quern::domain work;
///     int answer = 0;
///     std::jthread device;
///     work.spawn(quern::out(answer), [&device](int& a) {
///         device = std::jthread([&a, hold = quern::this_task::hold_accesses()]() mutable {
///             a = 42;
///             hold.drop();
///         });
///     });
///     work.spawn(quern::in(answer), [](const int& a) { std::printf("%d\n", a); });  // 42
///     work.taskwait();
access_hold hold_accesses();

}  // namespace this_task
}  // namespace quern
