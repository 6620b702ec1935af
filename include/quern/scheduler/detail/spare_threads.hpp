// SPDX-License-Identifier: BSL-1.0
// Threads of a pool that are not workers. A task that is about to block in foreign code continues
// on one of them, on its own stack, and returns to a worker afterwards (blocking_region). Made on
// demand, kept until the pool ends. They run no loop and take no work. Reasons:
// docs/design/0007-blocking-regions.md.
#pragma once

#include <quern/context/detail/execution_stack.hpp>

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
/// caller is not a task or must stay on its worker. Throws std::system_error when the pool has no
/// spare thread and none can be made.
void lend_to_spare_thread(lent_task& lent);

/// Leaves the spare thread; returns on a worker. Preserves errno.
/// Requires: `lent.task` is not null, and that task calls.
void return_from_spare_thread(lent_task& lent) noexcept;

/// The context whose task the calling spare thread runs, or null. Usable in signal handlers.
context* spare_thread_context() noexcept;

/// In the child of a fork(): the task that the calling spare thread runs, or null. Afterwards the
/// thread is an ordinary one.
context* leave_spare_thread_in_child() noexcept;

class spare_threads {
public:
    /// At most `limit` threads are made; further tasks wait for a free one.
    explicit spare_threads(const std::atomic<std::uint32_t>& limit) noexcept;
    ~spare_threads();
    spare_threads(const spare_threads&) = delete;
    spare_threads& operator=(const spare_threads&) = delete;

    /// Before a task leaves its worker: counts the task and makes sure that a thread will take it.
    /// Throws like lend_to_spare_thread(); then the task is not counted.
    void expect_one();

    /// The task has left its stack. First in, first out. Thread safe.
    void take(lent_task& lent) noexcept;

    /// Whether tasks are here or on their way (any thread, seq_cst).
    bool any() const noexcept { return m_here.load(std::memory_order_seq_cst) != 0; }

    bool own_the_caller() noexcept;

    std::size_t threads() noexcept;

    template <class Visit>
    void for_each_thread_id(Visit visit) {
        const std::scoped_lock lock(m_mutex);
        for (const pid_t id : m_thread_ids) {
            visit(id);
        }
    }

    /// Requires: !any().
    void stop() noexcept;

private:
    friend class spare_thread;

    /// The next task to run, or null at the end.
    lent_task* next() noexcept;
    void task_left() noexcept;
    void thread_begins();

    const std::atomic<std::uint32_t>& m_limit;
    cpu_set_t m_processors{};  ///< of the thread that made the pool: a worker may be bound to one
    bool m_processors_known = false;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    bool m_stop = false;
    std::uint32_t m_wanted = 0;  ///< threads that run a task or will
    lent_task* m_first = nullptr;
    lent_task* m_last = nullptr;
    std::vector<std::unique_ptr<spare_thread>> m_threads;
    std::vector<pid_t> m_thread_ids;  ///< kernel thread ids of those that have begun
    std::atomic<std::uint32_t> m_here{0};
};

}  // namespace quern::detail
