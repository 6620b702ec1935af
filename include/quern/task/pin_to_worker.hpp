// SPDX-License-Identifier: BSL-1.0
// A scope in which a task stays on its worker, and so on one OS thread. For foreign libraries that
// bind their objects to the calling thread (graphics contexts, some database handles, TLS).
#pragma once

namespace quern {

namespace detail {
class context;
}

/// During its lifetime the calling task runs only on the worker on which it was created. After
/// every wait it returns there, even if others are idle, and even if active_workers has deactivated
/// that worker. Other tasks may run on that worker while this one waits, so what they leave in
/// thread-local memory is visible.
///
/// The worker takes pinned tasks in turn with all other work, regardless of priority. A pinned task
/// is never stolen; it waits for the worker's current task. Children that it forks and tasks that
/// it starts may run anywhere. A task that it runs itself while waiting for it (a future's, a
/// group's) stays with it. A blocking_region inside does not leave the worker and blocks it.
///
/// Scopes nest; the outermost counts. Does nothing on a thread that is no worker.
/// Requires: destroyed by the task that created it (so not held across co_await), else the program
/// ends.
/// Cost: two stores; a wake-up of the worker if it sleeps when the task is resumed.
///
///     quern::pin_to_worker here;
///     auto gl = make_current(window);           // bound to this thread
///     gl.upload(quern::async(decode, file).get());  // still this thread
class [[nodiscard]] pin_to_worker {
public:
    pin_to_worker() noexcept;
    ~pin_to_worker();
    pin_to_worker(const pin_to_worker&) = delete;
    pin_to_worker& operator=(const pin_to_worker&) = delete;

private:
    detail::context* m_task;  ///< null if there is nothing to undo
};

}  // namespace quern
