// SPDX-License-Identifier: BSL-1.0
// task_group: spawn any number of tasks, then wait for all. No state is shared between threads as
// long as the owner runs the tasks itself.
#pragma once

#include <quern/base/detail/blocks.hpp>
#include <quern/scheduler/detail/context.hpp>
#include <quern/scheduler/detail/external_event.hpp>
#include <quern/task/attributes.hpp>
#include <quern/task/bounded.hpp>
#include <quern/task/detail/group_bound.hpp>
#include <quern/task/detail/group_count.hpp>
#include <quern/task/detail/group_stop.hpp>
#include <quern/task/exceptions.hpp>

#include <atomic>
#include <exception>
#include <thread>
#include <type_traits>
#include <utility>

namespace quern {

/// A set of tasks that are waited for together. The creating task (or thread) owns it. Only the
/// owner may wait; the owner and the tasks of the group may run more tasks. In a coroutine, no
/// co_await may occur between creation and end of a group, because the owner would change.
///
/// Errors: wait() throws the first exception of a task. Tasks of the group that have not begun by
/// then are dropped, and running ones are asked to stop. Later exceptions, and one that no wait()
/// has thrown when the group is destroyed, go to the handler (exceptions.hpp). The destructor
/// waits. Destroying a group from another task aborts.
///
/// Cancellation: by cancel(), which is not an error, or by the outer token given to the group; then
/// wait() throws task_cancelled. A token in a task's attributes applies to that task only.
///
/// Bound: a group created with bounded(n) keeps about n tasks that have not begun. At the bound,
/// run() is a scheduling point. On a worker of the group's pool it runs the new task and half of
/// the queued ones on another stack, and returns when they have ended or one of them suspends. So a
/// task may wait for its creator's next actions, but not for a std::mutex that its creator holds:
/// that would deadlock. Priority and hint of a task that runs this way have no effect. Other tasks
/// are counted: tasks with a hint or another priority, tasks under policies other than
/// work-stealing, and those of an owner that is an outside thread or a task of another pool. At n
/// of them the owner waits until n/2 have not begun. Not bounded: run() in a blocking_region, and
/// run() nested more than 1000 deep in tasks that run() has run. Without a bound run() never runs
/// another task and never suspends.
///
/// Cost: one allocation per task; no atomic read-modify-write on the group for tasks that the owner
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
        static_assert(std::is_invocable_v<std::decay_t<F>&>,
                      "quern: task_group::run: the function is called without arguments: "
                      "run([=] { f(x); })");
        const detail::creation_timing making;
        // Without attributes: to write a set of them costs more than the rest of a tiny task.
        const bool runs_here = m_bound.exists() && runs_at_bound(false);
        auto& task = make<detail::no_token>(detail::no_token(), std::forward<F>(f));
        task.site = detail::code_address();
        runs_here ? run_here(task) : launch_task(task);
    }

    template <class F>
    QUERN_ALWAYS_INLINE void run(const task_attributes& wanted, F&& f) {
        static_assert(std::is_invocable_v<std::decay_t<F>&>,
                      "quern: task_group::run: the function is called without arguments: "
                      "run([=] { f(x); })");
        const detail::creation_timing making;
        const task_attributes how = detail::made_at(detail::code_address(), wanted);
        const bool has_place = how.urgency != priority::normal || how.rank != 0;
        const bool is_hinted = how.worker >= 0 || how.numa_node >= 0;
        const bool runs_here = m_bound.exists() && runs_at_bound(has_place || is_hinted);
        detail::runnable& task = make_for(how, std::forward<F>(f));
        runs_here ? run_here(task) : launch_task(task);
    }

    /// Arguments for the function: never compiles, and says what to write.
    template <class F, class Argument, class... Arguments>
        requires(!std::is_convertible_v<F, const task_attributes&>)
    void run(F&&, Argument&&, Arguments&&...) {
        static_assert(sizeof(std::decay_t<F>) == 0,
                      "quern: task_group::run: takes a function without arguments: "
                      "run([=] { f(x); })");
    }

    /// Returns when every task has ended. Throws the first exception, or task_cancelled if the
    /// outer token was stopped; work may be missing then. The group can be used again, but a
    /// stopped outer token stays stopped. Throws std::logic_error if the caller is not the owner: a
    /// task of the group cannot wait for itself.
    void wait();

    /// Drops tasks that have not begun and stops the token, until the next wait(). Running tasks
    /// continue unless they poll it. The first of several requests returns true. Any thread.
    bool request_stop() noexcept { return m_stop.request(); }
    void cancel() noexcept { request_stop(); }
    bool is_cancelled() const noexcept { return m_stop.asks(); }

    /// Reports cancel(), an exception of a task, and the outer token; after the next wait() only
    /// the outer token. Any thread. Throws std::bad_alloc. Cost: an allocation, the first time.
    std::stop_token stop_token() { return m_stop.own_token(); }

private:
    task_group(pool_ref where, std::uint32_t most, std::stop_token outer);

    static const detail::wait_kind k_wait;
    static const detail::wait_kind k_bound_wait;

    struct creator_aside;

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
            task_group& home = self->home_group;
            return detail::run_from_queue(
                *self,
                [self, &home] {
                    if (self->counts_to_bound) [[unlikely]] {
                        home.counted_task_begins();
                    }
                    self->call();
                    delete self;
                },
                [&home] { return home.task_ended(); });
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
                const detail::task_body body(detail::task_body::part_of::task);
                if constexpr (std::is_invocable_v<F&>) {  // else run() has said so
                    function();
                }
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
    bool owner_calls() const noexcept;
    bool is_own(detail::runnable& item) const noexcept {
        return item.in_group && &static_cast<task_base&>(item).home_group == this;
    }
    void count_spawned() noexcept;
    void launch_task(detail::runnable& item) noexcept;
    bool stays_in_deque(bool goes_elsewhere) const noexcept;
    bool runs_at_bound(bool goes_elsewhere) noexcept;
    void run_here(detail::runnable& item) noexcept;
    detail::runnable* next_to_run_here() noexcept;
    bool owner_is_aside() const noexcept;
    void wait_for_room() noexcept;
    void counted_task_begins() noexcept;
    static void wake(waiting& owner) noexcept;
    detail::context* task_ended() noexcept;
    void failed(std::exception_ptr error) noexcept;
    detail::runnable* next_own_task() noexcept;
    void run_own_tasks() noexcept;
    void wait_for_all() noexcept;

    detail::pool& m_pool;
    detail::context* m_owner;                 ///< null if an outside thread made it
    const detail::task_record* m_owner_task;  ///< of the owner; other tasks may run on its stack
    std::thread::id m_owner_thread;           ///< the outside thread
    detail::group_count<detail::std_atomics, waiting> m_count;
    detail::group_bound<detail::std_atomics, waiting> m_bound;
    detail::group_stop m_stop;
    std::atomic<bool> m_failed{false};
    std::exception_ptr
        m_error;  ///< written by the thread that sets m_failed; read after the last task
};

}  // namespace quern
