// SPDX-License-Identifier: BSL-1.0
// task_group: spawn any number of tasks, then wait for all. Nothing in it is shared as long as its
// owner runs the tasks itself.
#pragma once

#include <quern/scheduler/context.hpp>
#include <quern/scheduler/external_event.hpp>
#include <quern/task/attributes.hpp>
#include <quern/task/group_count.hpp>

#include <atomic>
#include <exception>
#include <thread>
#include <type_traits>
#include <utility>

namespace quern {

/// A set of tasks that are waited for together. The task (or thread) that makes it owns it: it
/// alone may wait; it and the tasks of the group may run more tasks.
///
/// Errors: wait() throws the first exception that a task threw; tasks of the group that have not
/// begun by then are dropped. The destructor waits and drops exceptions; to destroy a group that
/// another task made aborts.
/// Cost: one allocation a task; no atomic read-modify-write on the group for tasks that the owner
/// runs itself while it waits.
///
///     quern::task_group group;
///     for (auto& part : parts) group.run([&part] { refine(part); });
///     group.wait();
class task_group {
public:
    task_group();
    explicit task_group(pool_ref where);
    ~task_group();
    task_group(const task_group&) = delete;
    task_group& operator=(const task_group&) = delete;

    template <class F>
    QUERN_ALWAYS_INLINE void run(F&& f) {
        run(task_attributes{}, std::forward<F>(f));
    }

    template <class F>
    QUERN_ALWAYS_INLINE void run(const task_attributes& wanted, F&& f) {
        run_made(detail::made_at(detail::code_address(), wanted), std::forward<F>(f));
    }

    /// Returns when every task has ended, and throws the first exception. The group can be used
    /// again. Throws std::logic_error when the caller is not the owner.
    void wait();

    /// Drops the tasks that have not begun. Those that run go on. Any thread.
    void cancel() noexcept { m_cancelled.store(true, std::memory_order_relaxed); }
    bool is_cancelled() const noexcept { return m_cancelled.load(std::memory_order_relaxed); }

private:
    static const detail::wait_kind k_wait;

    struct waiting {
        detail::context* task = nullptr;
        detail::external_event thread;
    };

    struct task_base : detail::runnable {
        task_base(run_function f, task_group& g) noexcept : runnable(f), home_group(g) {
            group = &g;
        }
        task_group& home_group;
    };

    template <class F>
    struct group_task final : task_base {
        group_task(task_group& g, const F& f) : task_base(run_task, g), function(f) {}
        group_task(task_group& g, F&& f) : task_base(run_task, g), function(std::move(f)) {}

        static detail::context* run_task(detail::work& item) {
            auto* self = &static_cast<group_task&>(static_cast<runnable&>(item));
            if (detail::context* larger = detail::begin_task(*self)) {
                return larger;
            }
            task_group& home = self->home_group;
            if (!home.is_cancelled()) {
                try {
                    self->function();
                } catch (...) {
                    home.failed(std::current_exception());
                }
            }
            delete self;
            detail::end_task();
            detail::count_task();
            return home.task_ended();
        }

        F function;
    };

    template <class F>
    void run_made(const task_attributes& wanted, F&& f) {
        auto* t = new group_task<std::decay_t<F>>(*this, std::forward<F>(f));
        detail::apply_attributes(wanted, *t);
        launch_task(*t);
    }

    bool owned_here() const noexcept;
    void launch_task(detail::runnable& item) noexcept;
    detail::context* task_ended() noexcept;
    void failed(std::exception_ptr error) noexcept;
    void run_own_tasks() noexcept;
    void wait_for_all() noexcept;

    detail::pool& m_pool;
    detail::context* m_owner;        ///< null when a thread that is no worker made it
    std::thread::id m_owner_thread;  ///< that thread
    detail::group_count<detail::std_atomics, waiting> m_count;
    std::atomic<bool> m_cancelled{false};
    std::atomic<bool> m_failed{false};
    std::exception_ptr m_error;  ///< written by whoever sets m_failed; read after the last task
};

}  // namespace quern
