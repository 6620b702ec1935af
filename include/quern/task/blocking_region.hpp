// SPDX-License-Identifier: BSL-1.0
// A scope for foreign code that blocks its thread: the task leaves its worker for it, so that the
// pool keeps all its workers. Why a change of threads and not one more worker:
// docs/design/0007-blocking-regions.md.
#pragma once

#include <quern/scheduler/spare_threads.hpp>
#include <quern/task/enough_stack.hpp>

#include <utility>

namespace quern {

/// While it lives the calling task runs on a spare thread of its pool, which is no worker; its own
/// worker goes on with other tasks. For ::read, ::poll, ::sleep, std::mutex and the like, of calls
/// that take longer than its cost. At the end of the scope the task becomes ready and goes on on
/// any worker. errno passes both changes.
///
/// Inside, the task still is itself, on its own stack: this_task::id(), name(), get_priority(),
/// stack_left() and stop_requested(), task_local, current_pool(), crash reports. Otherwise it is a
/// thread outside of the pool: whatever waits blocks the spare thread, and
/// thread_local variables are those of the spare thread. Requires: nothing inside uses a
/// fork_context, fork_scope or task_group from outside the region, and it ends before the function
/// that made it suspends a coroutine. Forked children of the task may be stolen meanwhile.
///
/// A pool makes spare threads when it needs them, at most as many as the setting `spare_threads`
/// says (64), and keeps them. Tasks that find none free wait without a worker, first come, first
/// served: a region must not wait for what only another region can do unless there are threads for
/// both. A runtime ends only after the regions of its tasks. Spare threads are not bound.
///
/// On a thread that is no worker it does nothing, so nested regions do nothing either. In a task
/// that pin_to_worker holds it does nothing: the worker is blocked.
///
/// Errors: std::system_error when the pool's first spare thread cannot be made. Exceptions may
/// leave the region.
/// Cost: two changes of threads, each a wake-up: 4-25 us on a virtual machine.
///
///     std::size_t n = 0;
///     {
///         const quern::blocking_region here;
///         n = ::read(socket, buffer, sizeof buffer);
///     }
class [[nodiscard]] blocking_region {
public:
    blocking_region() { detail::lend_to_spare_thread(m_lent); }
    ~blocking_region() {
        if (m_lent.task != nullptr) {
            detail::return_from_spare_thread(m_lent);
        }
    }
    blocking_region(const blocking_region&) = delete;
    blocking_region& operator=(const blocking_region&) = delete;

private:
    detail::lent_task m_lent;
};

/// Calls f() in a blocking_region and gives what it returns or throws.
///
///     const ssize_t n = quern::blocking([&] { return ::read(fd, buffer, sizeof buffer); });
template <class F>
decltype(auto) blocking(F&& f) {
    return detail::on_enough_stack([&f]() -> decltype(auto) {
        const blocking_region here;
        return std::forward<F>(f)();
    });
}

}  // namespace quern
