// SPDX-License-Identifier: BSL-1.0
// The parts of a domain that do not depend on the types of tasks: who owns it, its map, the number
// of its tasks, its first error. A domain of a program contains one; so does a dependent task that
// has children.
#pragma once

#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/intrusive_list.hpp>
#include <quern/dependences/detail/access_checks.hpp>
#include <quern/dependences/detail/domain_list.hpp>
#include <quern/dependences/detail/failing.hpp>
#include <quern/dependences/detail/known_operators.hpp>
#include <quern/dependences/detail/reduction_group.hpp>
#include <quern/dependences/detail/region_map.hpp>
#include <quern/scheduler/detail/external_event.hpp>
#include <quern/task/detail/group_count.hpp>
#include <quern/task/stop.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <thread>
#include <vector>

namespace quern::detail {

/// What continues when the last task of a domain has ended.
struct domain_waiter {
    context* task = nullptr;           ///< the owner, suspended; or
    dependent_task* parent = nullptr;  ///< the owner, whose function has returned; or
    external_event thread;             ///< the owner, a thread outside
};

class renamed_core;
class replay_run;

/// For reports: tasks whose functions have returned and that are held. There is room for a few, of
/// which most is for tasks for which another one waited by then.
class held_notes {
public:
    static constexpr std::size_t k_most = 12;

    /// By the task, while it is held. False: there is no room.
    bool add(const dependent_task& task, bool has_successors) noexcept;
    /// When its holds have been dropped.
    void remove(const dependent_task& task) noexcept;
    /// Any thread. The task may be gone.
    const dependent_task* at(std::size_t i) const noexcept {
        return m_tasks[i].load(std::memory_order_relaxed);
    }

private:
    static constexpr std::size_t k_without_successors = 4;  ///< the first ones

    std::array<std::atomic<const dependent_task*>, k_most> m_tasks{};
};

class domain_core : public listed_domain {
public:
    /// Of the calling task or thread.
    explicit domain_core(pool& where) noexcept;
    /// Of a dependent task that runs.
    explicit domain_core(dependent_task& parent) noexcept;
    domain_core(const domain_core&) = delete;
    domain_core& operator=(const domain_core&) = delete;
    ~domain_core();

    pool& home_pool() const noexcept { return m_pool; }
    bool owned_here() const noexcept;
    /// Throws std::logic_error, which names the function.
    void require_owner(const char* function) const {
        if (!owned_here()) [[unlikely]] {
            refuse_stranger(function);
        }
    }

    /// The task passes messages: before it is started. Throws std::bad_alloc: then the task has
    /// been dropped.
    QUERN_COLD void mark_communication(dependent_task& task);
    /// Registers the task and makes it ready when nothing precedes it. Owner. Throws
    /// std::bad_alloc: then the task has been dropped.
    void start(dependent_task& task);
    /// The same; returns when its function has, and nothing holds it; or with `wait`, its children.
    void start_and_wait(dependent_task& task);
    /// The open group of exactly that region and manner, or make()'s. Closes others that overlap.
    /// Owner. Throws std::bad_alloc, and what make() throws.
    template <class Make>
    std::shared_ptr<reduction_group> join_reduction(const region& of, const reduction_manner& by,
                                                    Make make) {
        std::shared_ptr<reduction_group> found = m_open.find(of, by);
        if (found == nullptr) {
            close_reductions(of);
            found = make();
            m_open.add(found);
        }
        return found;
    }
    /// The operators with a state that its reductions have named.
    known_operators& operators() noexcept { return m_operators; }

    /// Requires: runs_in_place().
    dependent_task& parent_to_run_in() const noexcept { return *m_parent; }
    /// Its tasks run at once, in the place of their creation.
    bool runs_in_place() const noexcept { return m_parent != nullptr && m_parent->is_final(); }

    /// Owner. Returns when every task has ended.
    void wait_for_all() noexcept;
    /// The same; then throws the first error, or task_cancelled, and starts afresh.
    void taskwait();
    /// Owner. Returns when a task with such accesses could begin. Throws as taskwait() does, after
    /// having waited for all, if the domain is stopped then.
    void taskwait_on(std::span<const wanted_region> wanted);
    /// The same; does not throw because the domain is stopped. Throws std::bad_alloc: then it has
    /// waited for all.
    void wait_on(std::span<const wanted_region> wanted);
    /// Owner. Lets other tasks run until left(of) is at most `until`: true. False: nothing is left
    /// to run, so the tasks may wait for what the caller does next.
    bool let_others_run(std::int64_t (*left)(const void* of), const void* of,
                        std::int64_t until) noexcept;

    /// Any thread.
    void cancel() noexcept;
    bool is_stopped() const noexcept {
        return m_root->m_any_stopped.load(std::memory_order_relaxed) && m_signal.is_asked();
    }
    const stop_signal& signal() const noexcept { return m_signal; }

    /// A task of the domain has thrown.
    void fail(std::exception_ptr error) noexcept;
    // What fail_outwards() needs.
    failing_words<std_atomics> failing;
    domain_core& outer() const noexcept { return m_parent->home(); }
    void raise() noexcept;
    void place(const std::exception_ptr& error) noexcept { m_error = error; }
    static void report(std::exception_ptr error) noexcept;
    /// The first error, or null. Requires: every task has ended.
    std::exception_ptr error() const noexcept {
        return failing.failed.load(std::memory_order_acquire) ? m_error : nullptr;
    }
    /// A task has failed or was dropped, and no taskwait() has thrown that. Any thread, after that
    /// task has released an access.
    bool has_failed() const noexcept {
        // acquire: pairs with fail_outwards. What was dropped has seen only the signal.
        return failing.failed.load(std::memory_order_acquire) || is_stopped();
    }
    /// An error that no taskwait() has thrown goes to the handler. Requires: every task has ended.
    void report_unobserved() noexcept;

    region_map& map() noexcept { return m_map; }
    held_notes& held() noexcept { return m_held; }

    /// The task whose children these are, or null.
    const dependent_task* parent() const noexcept { return m_parent; }
    bool has_parent_ended() const noexcept {
        return failing.parent_ended.load(std::memory_order_relaxed);
    }
    domain_core& root() noexcept { return *m_root; }
    /// Of a root: what check-accesses knows, or null.
    access_checks* checks() const noexcept { return m_checks.get(); }

    std::uint64_t recording_number = 0;  ///< of a root: what the recording has called it

    /// The function of its parent is about to end: tasks that combine what is not combined yet.
    void close_all_reductions() noexcept;

    /// The replay() in progress, or null. Owner.
    replay_run* replay() const noexcept { return m_replay; }
    void set_replay(replay_run* now) noexcept { m_replay = now; }

    /// The function of its parent has returned: from now on errors go to the parent's domain.
    /// Before accesses of the parent are released, so that no successor misses an error.
    void parent_ends() noexcept;
    /// After that. True: every task has ended. False: the last one completes the parent.
    bool parent_ended() noexcept;

    /// A task of the domain is complete. Returns its parent if that is complete now.
    dependent_task* task_ended() noexcept;

    /// Identifies the task that is spawned next, whatever tasks of the domain's own come before it.
    /// Owner.
    std::int64_t next_task() const noexcept { return m_spawned - m_own; }

    /// Tasks that have not ended. Owner.
    std::int64_t live() const noexcept {
        return m_spawned - (m_nothing_ended - m_count.outstanding());
    }
    /// The same, for any thread; already out of date.
    std::uint64_t live_from_outside() const noexcept {
        const std::int64_t left = m_count.outstanding();
        const std::int64_t now = left > m_nothing_ended / 2 ? live() : left;  // the owner waits
        return static_cast<std::uint64_t>(std::max<std::int64_t>(now, 0));
    }

    static const wait_kind k_wait;
    static const wait_kind k_wait_on;

private:
    friend class renamed_core;

    [[noreturn]] QUERN_COLD void refuse_stranger(const char* function) const;
    void enter(dependent_task& task);
    QUERN_COLD void start_checked(dependent_task& task);
    void launch(dependent_task& task, std::uint32_t links) noexcept;
    QUERN_COLD void close_reductions(const strided_region& of);
    QUERN_COLD void close_reductions_for(dependent_task& task);
    void combine_here() noexcept;
    void wait_for_count() noexcept;
    QUERN_COLD void enter_weak(dependent_task& task, new_links& of_task);
    QUERN_COLD void enter_rare(dependent_task& task, new_links& of_task);
    void launch_entries(weak_entry* first) noexcept;
    void wait_for(access_waiter& self, std::uint32_t links) noexcept;
    QUERN_COLD void make_room() noexcept;
    void fit_window(std::int64_t limit) noexcept;
    bool are_tasks_tiny() const noexcept;
    bool has_waited_for_room(std::int64_t until) noexcept;
    bool nothing_runs() const noexcept;
    QUERN_COLD void settle_renamed() noexcept;

    pool& m_pool;
    dependent_task* const m_parent = nullptr;
    const task_record* m_owner = nullptr;  ///< null for a thread outside, and for a parent
    std::thread::id m_owner_thread;        ///< the thread outside
    domain_core* const m_root;             ///< the domain that is not of a dependent task
    std::int64_t m_room = 1;               ///< tasks until the next look at their number
    struct {
        tick_count at = 0;
        std::int64_t ended = 0;  ///< tasks, by then
    } m_last_look;
    const std::int64_t m_least_window;
    std::int64_t m_window = m_least_window;  ///< tasks that have not ended; then others run
    relaxed<std::int64_t> m_spawned = 0;     ///< since the last wait for all
    std::int64_t m_own = 0;  ///< of these, copies of renamed objects and combinations of parts
    intrusive_list<renamed_core> m_renamed;  ///< the objects that its tasks have used
    region_map m_map;
    open_reductions m_open;  ///< reductions that are not combined
    known_operators m_operators;
    replay_run* m_replay = nullptr;
    stop_signal m_signal;
    std::atomic<bool> m_any_stopped{false};  ///< in the root: this or an inner one was stopped once
    std::exception_ptr m_error;
    group_count<std_atomics, domain_waiter> m_count;
    const std::int64_t m_nothing_ended = m_count.outstanding();
    domain_waiter m_of_parent;
    held_notes m_held;
    access_checks_of_domain m_checks;  ///< of a root, while check-accesses is on
};

/// The domain that the running dependent task belongs to. Throws std::logic_error, which names the
/// function, if none runs here.
domain_core& domain_of_running_task(const char* function);

}  // namespace quern::detail
