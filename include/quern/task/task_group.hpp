// SPDX-License-Identifier: BSL-1.0
// task_group: spawn any number of tasks, then wait for all. Nothing in it is shared as long as its
// owner runs the tasks itself.
#pragma once

#include <quern/base/blocks.hpp>
#include <quern/scheduler/context.hpp>
#include <quern/scheduler/external_event.hpp>
#include <quern/task/attributes.hpp>
#include <quern/task/bounded.hpp>
#include <quern/task/exceptions.hpp>
#include <quern/task/group_bound.hpp>
#include <quern/task/group_count.hpp>
#include <quern/task/group_stop.hpp>

#include <atomic>
#include <exception>
#include <thread>
#include <type_traits>
#include <utility>

namespace quern {

/// A set of tasks that are waited for together. The task (or thread) that makes it owns it: it
/// alone may wait; it and the tasks of the group may run more tasks. In a coroutine no co_await may
/// stand between the making of a group and its end: the coroutine is another owner afterwards.
///
/// Errors: wait() throws the first exception that a task threw; tasks of the group that have not
/// begun by then are dropped, and those that run are asked to stop. Later exceptions, and one that
/// no wait() has thrown when the group is destroyed, go to the handler (exceptions.hpp). The
/// destructor waits; to destroy a group that another task made aborts.
///
/// Cancellation: by cancel(), which is not an error, or from outside by the token that the group
/// was given: then wait() throws task_cancelled. What a task gets as its own token in its
/// attributes concerns that task alone.
///
/// Bound: a group that is made with bounded(n) keeps about n tasks that have not begun. At the
/// bound run() is a scheduling point. On a worker of the group's pool it runs the new task and half
/// of the queued ones on another stack, and returns when they have ended or one of them suspends.
/// So a task may wait for what its creator does next, but not for a std::mutex that its creator
/// holds: that would hang. Priority and hint of a task that runs so have no effect. Tasks with a
/// hint or another priority, tasks under policies other than work-stealing, and those of an owner
/// that is a thread outside or a task of another pool are counted: at n of them the owner waits
/// until n/2 have not begun. Not bounded: run() in a blocking_region, and run() nested more than
/// 1000 deep in tasks that run() has run. Without a bound run() never runs another task and never
/// suspends.
///
/// Cost: one allocation a task; no atomic read-modify-write on the group for tasks that the owner
/// runs itself while it waits.
///
///     quern::task_group group;
///     for (auto& part : parts) group.run([&part] { refine(part); });
///     group.wait();
class task_group {
public:
    task_group();
    explicit task_group(std::stop_token outer);
    explicit task_group(pool_ref where, std::stop_token outer = {});
    explicit task_group(bounded most, std::stop_token outer = {});
    task_group(pool_ref where, bounded most, std::stop_token outer = {});
    ~task_group();
    task_group(const task_group&) = delete;
    task_group& operator=(const task_group&) = delete;

    template <class F>
    QUERN_ALWAYS_INLINE void run(F&& f) {
        const detail::describing making;
        // Without attributes: to write a set of them costs more than the rest of a tiny task.
        const bool runs_here = m_bound.exists() && runs_at_bound(priority::normal, false);
        auto& task = make<detail::no_token>(detail::no_token(), std::forward<F>(f));
        task.site = detail::code_address();
        runs_here ? run_here(task) : launch_task(task);
    }

    template <class F>
    QUERN_ALWAYS_INLINE void run(const task_attributes& wanted, F&& f) {
        const detail::describing making;
        const task_attributes how = detail::made_at(detail::code_address(), wanted);
        const bool is_hinted = how.worker >= 0 || how.numa_node >= 0;
        const bool runs_here = m_bound.exists() && runs_at_bound(how.urgency, is_hinted);
        detail::runnable& task = make_for(how, std::forward<F>(f));
        runs_here ? run_here(task) : launch_task(task);
    }

    /// Returns when every task has ended, and throws the first exception, or task_cancelled when
    /// the outer token has been stopped: something may be missing then. The group can be used
    /// again, but for the outer token. Throws std::logic_error when the caller is not the owner.
    void wait();

    /// Until the next wait(), drops tasks that have not begun and stops the token; those that run
    /// go on unless they look at it. The first of several requests gives true. Any thread.
    bool request_stop() noexcept { return m_stop.request(); }
    void cancel() noexcept { request_stop(); }
    bool is_cancelled() const noexcept { return m_stop.asks(); }

    /// Tells of cancel(), of a task that throws, and of the outer token; from the next wait() on of
    /// the latter alone. Any thread. Throws std::bad_alloc. Cost: an allocation, the first time.
    std::stop_token stop_token() { return m_stop.own_token(); }

private:
    task_group(pool_ref where, std::uint32_t most, std::stop_token outer);

    static const detail::wait_kind k_wait;
    static const detail::wait_kind k_bound_wait;

    struct standing_aside;

    struct waiting {
        detail::context* task = nullptr;
        detail::external_event thread;
    };

    struct task_base : detail::runnable, detail::in_blocks {
        task_base(run_function f, task_group& g) noexcept : runnable(f), home_group(g) {
            in_group = true;
        }
        task_group& home_group;
    };

    template <class F, class Token>
    struct group_task final : task_base {
        template <class G>
        group_task(task_group& g, const Token& own, G&& f)
            : task_base(run_task, g), token(own), function(std::forward<G>(f)) {}

        static detail::context* run_task(detail::work& item) {
            auto* self = &static_cast<group_task&>(static_cast<runnable&>(item));
            if (detail::context* larger = detail::begin_task(*self)) {
                return larger;
            }
            task_group& home = self->home_group;
            if (self->counts_to_bound) [[unlikely]] {
                home.counted_task_begins();
            }
            self->call();
            delete self;
            detail::end_task();
            detail::count_task();
            return home.task_ended();
        }

        void call() noexcept {
            const detail::stop_signal& of_group = this->home_group.m_stop;
            if (of_group.asks() || token.stop_requested()) {
                return;
            }
            if constexpr (std::is_same_v<Token, std::stop_token>) {
                const detail::stop_signal own(std::move(token), &of_group);
                call_under(own);
            } else {
                call_under(of_group);
            }
        }

        void call_under(const detail::stop_signal& signal) noexcept {
            const detail::under_signal running(&signal);
            try {
                const detail::task_body body;
                function();
            } catch (...) {
                this->home_group.failed(std::current_exception());
            }
        }

        [[no_unique_address]] Token token;
        [[no_unique_address]] F function;
    };

    template <class Token, class F>
    detail::runnable& make(const Token& own, F&& f) {
        return *new group_task<std::decay_t<F>, Token>(*this, own, std::forward<F>(f));
    }

    template <class F>
    detail::runnable& make_for(const task_attributes& wanted, F&& f) {
        detail::runnable& task =
            wanted.stop.stop_possible()
                ? make<std::stop_token>(wanted.stop, std::forward<F>(f))
                : make<detail::no_token>(detail::no_token(), std::forward<F>(f));
        detail::apply_attributes(wanted, task);
        return task;
    }

    bool owned_here() const noexcept;
    bool is_own(detail::runnable& item) const noexcept {
        return item.in_group && &static_cast<task_base&>(item).home_group == this;
    }
    void count_spawned() noexcept;
    void launch_task(detail::runnable& item) noexcept;
    bool stays_in_deque(priority urgency, bool is_hinted) const noexcept;
    bool runs_at_bound(priority urgency, bool is_hinted) noexcept;
    void run_here(detail::runnable& item) noexcept;
    detail::runnable* next_to_run_here() noexcept;
    bool owner_stands_aside() const noexcept;
    void wait_for_room() noexcept;
    void counted_task_begins() noexcept;
    static void wake(waiting& owner) noexcept;
    detail::context* task_ended() noexcept;
    void failed(std::exception_ptr error) noexcept;
    detail::runnable* next_own_task() noexcept;
    void run_own_tasks() noexcept;
    void wait_for_all() noexcept;

    detail::pool& m_pool;
    detail::context* m_owner;        ///< null when a thread that is no worker made it
    std::thread::id m_owner_thread;  ///< that thread
    detail::group_count<detail::std_atomics, waiting> m_count;
    detail::group_bound<detail::std_atomics, waiting> m_bound;
    detail::group_stop m_stop;
    std::atomic<bool> m_failed{false};
    std::exception_ptr m_error;  ///< written by whoever sets m_failed; read after the last task
};

}  // namespace quern
