// SPDX-License-Identifier: BSL-1.0
// A scope for foreign code that blocks its thread. The task leaves its worker for the scope, so
// that the pool keeps all its workers. Why threads are changed instead of adding a worker:
// docs/design/0007-blocking-regions.md.
#pragma once

#include <quern/scheduler/detail/spare_threads.hpp>
#include <quern/task/detail/enough_stack.hpp>

#include <utility>

namespace quern {

/// During its lifetime the calling task runs on a spare thread of its pool, which is not a worker;
/// the task's worker runs other tasks. For read(), poll(), sleep(), std::mutex and similar calls
/// that take longer than the cost below. At the end of the scope the task becomes ready and resumes
/// on any worker. errno is preserved across both changes.
///
/// Inside, the task keeps its identity and its stack: this_task::id(), name(), get_priority(),
/// stack_left() and stop_requested(), task_local, current_pool(), crash reports. Otherwise it
/// behaves like a thread outside of the pool: waiting blocks the spare thread, and thread_local
/// variables are the spare thread's. Requires: nothing inside uses a fork_context, fork_scope or
/// task_group from outside the region, and the region ends before its function suspends a
/// coroutine. Forked children of the task may be stolen meanwhile.
///
/// A pool creates spare threads on demand, at most as many as the setting `spare-threads` says
/// (64), and keeps them. Tasks that find none free wait without a worker, in FIFO order. So a
/// region must not wait for another region unless there are threads for both. A runtime ends only
/// after the regions of its tasks. Spare threads are not bound.
///
/// Does nothing on a thread that is no worker, hence nested regions do nothing. Does nothing in a
/// task that is pinned by pin_to_worker: the worker is blocked.
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

/// Calls f() in a blocking_region.
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
