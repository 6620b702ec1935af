// SPDX-License-Identifier: BSL-1.0
// Threads of a pool that are no workers: a task that is about to block in foreign code goes on on
// one of them, on its own stack, and comes back to a worker afterwards (blocking_region). Made when
// they are needed, kept until the pool ends. They run no loop and take no work.
// Why so: docs/design/0007-blocking-regions.md.
#pragma once

#include <quern/context/execution_stack.hpp>

#include <sched.h>
#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace quern::detail {

class context;
class spare_thread;

/// A task that has left its worker for a spare thread. Lies on the task's stack.
struct lent_task {
    context* task = nullptr;
    spare_thread* on = nullptr;  ///< null until a thread has taken it
    lent_task* next = nullptr;
};

/// Leaves the worker; returns on a spare thread. Does nothing, and `lent.task` stays null, when the
/// caller is no task, or one that must stay on its worker. Throws std::system_error when the pool
/// has no spare thread and none can be made.
void lend_to_spare_thread(lent_task& lent);

/// The other way: leaves the spare thread and returns on a worker. errno stays what it was.
/// Requires: `lent.task` is not null, and nobody but that task calls.
void return_from_spare_thread(lent_task& lent) noexcept;

/// The context on whose stack the calling spare thread runs a task, or null. Signal handlers too.
context* lent_context_here() noexcept;

/// In the child of a fork(): the task that the calling spare thread runs, or null. The thread is a
/// plain one from then on.
context* leave_spare_thread_in_child() noexcept;

class spare_threads {
public:
    /// More threads than `limit` are not made; tasks that find none free wait for one.
    explicit spare_threads(const std::atomic<std::uint32_t>& limit) noexcept;
    ~spare_threads();
    spare_threads(const spare_threads&) = delete;
    spare_threads& operator=(const spare_threads&) = delete;

    /// Before a task leaves its worker: from now on it is counted, and there is a thread that will
    /// take it. Throws as above; then it is not counted.
    void expect_one();

    /// The task has left its stack. First come, first served. Thread safe.
    void take(lent_task& lent) noexcept;

    /// Whether tasks are here, or on their way (any thread, seq_cst).
    bool any() const noexcept { return m_here.load(std::memory_order_seq_cst) != 0; }

    /// Whether the caller is one of these threads.
    bool own_the_caller() noexcept;

    std::size_t threads() noexcept;

    /// Calls visit(pid_t) for each thread.
    template <class Visit>
    void for_each_thread_id(Visit visit) {
        const std::scoped_lock lock(m_mutex);
        for (const pid_t id : m_thread_ids) {
            visit(id);
        }
    }

    /// Ends the threads. Requires: !any().
    void stop() noexcept;

private:
    friend class spare_thread;

    /// The next task to go on with, or null at the end.
    lent_task* next() noexcept;
    void task_left() noexcept;
    void thread_begins();

    const std::atomic<std::uint32_t>& m_limit;
    cpu_set_t m_processors{};  ///< of the thread that made the pool: a worker's may be one
    bool m_processors_known = false;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    bool m_stop = false;
    std::uint32_t m_wanted = 0;  ///< threads that run a task or will
    lent_task* m_first = nullptr;
    lent_task* m_last = nullptr;
    std::vector<std::unique_ptr<spare_thread>> m_threads;
    std::vector<pid_t> m_thread_ids;  ///< as the kernel numbers those that have begun
    std::atomic<std::uint32_t> m_here{0};
};

}  // namespace quern::detail
