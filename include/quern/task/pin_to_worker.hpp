// SPDX-License-Identifier: BSL-1.0
// A scope in which a task stays on its worker, and so on one OS thread: for foreign libraries that
// bind what they hand out to the calling thread (graphics contexts, some database handles, TLS).
#pragma once

namespace quern {

namespace detail {
class context;
}

/// While it lives the calling task goes on only on the worker on which it made this: after every
/// wait it comes back there, also when others are idle, and also when that worker is one of those
/// that active_workers keeps from other work. It does not keep others off the worker: while the
/// task waits, other tasks run there, so what they leave in thread-local memory is visible.
///
/// The worker takes what is pinned to it in turns with everything else, whatever its priority. The
/// task is as late as the worker's present task is long; nobody steals it. Children that it forks
/// and tasks that it starts may run anywhere. A task that it runs itself while it waits for it (a
/// future's, a group's) stays with it. A blocking_region inside does not leave the worker and
/// blocks it.
///
/// Scopes may be nested; the outermost counts. On a thread that is no worker it does nothing.
/// Requires: destroyed by the task that made it (so none across co_await), else the program ends.
/// Cost: two stores; a wake-up of the worker when the task is resumed and it sleeps.
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
    detail::context* m_task;  ///< null when there is nothing to undo
};

}  // namespace quern
