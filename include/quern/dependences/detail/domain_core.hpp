// SPDX-License-Identifier: BSL-1.0
// The parts of a domain that do not depend on the types of tasks, as its owner may use them: its
// map, its reductions, the creation of tasks, the waits. A domain of a program contains one; so
// does a dependent task that has children.
#pragma once

#include <quern/base/detail/intrusive_list.hpp>
#include <quern/dependences/detail/domain_shared.hpp>
#include <quern/dependences/detail/known_operators.hpp>
#include <quern/dependences/detail/reduction_group.hpp>
#include <quern/dependences/detail/region_map.hpp>
#include <quern/dependences/detail/task_window.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <thread>
#include <vector>

namespace quern::detail {

class renamed_core;
class replay_run;

class domain_core final : public domain_shared {
public:
    /// Of the calling task or thread.
    explicit domain_core(pool& where) noexcept;
    /// Of a dependent task that runs.
    explicit domain_core(dependent_task& parent) noexcept;
    ~domain_core();

    using domain_shared::parent_ends;
    using domain_shared::report_unobserved;

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
    dependent_task& parent_to_run_in() const noexcept { return *own_parent(); }
    /// Its tasks run at once, in the place of their creation.
    bool runs_in_place() const noexcept { return parent() != nullptr && parent()->is_final(); }

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
    region_map& map() noexcept { return m_map; }

    /// The function of its parent is about to end: tasks that combine what is not combined yet.
    void close_all_reductions() noexcept;

    /// The replay() in progress, or null. Owner.
    replay_run* replay() const noexcept { return m_replay; }
    void set_replay(replay_run* now) noexcept { m_replay = now; }

    /// After parent_ends(). True: every task has ended. False: the last one completes the parent.
    bool parent_ended() noexcept;

    /// Identifies the task that is spawned next, whatever tasks of the domain's own come before it.
    /// Owner.
    std::int64_t next_task() const noexcept { return spawned() - m_own; }

    /// Tasks that have not ended.
    using domain_shared::live;

    /// Objects that its tasks have used since the last wait for all.
    intrusive_list<renamed_core>& renamed() noexcept { return m_renamed; }
    /// So many of the last tasks were copies of renamed objects.
    void note_copies(std::int64_t tasks) noexcept { m_own += tasks; }

    static const wait_kind k_wait;
    static const wait_kind k_wait_on;

private:
    [[noreturn]] QUERN_COLD void refuse_stranger(const char* function) const;
    /// True: the task waits for no other one.
    bool enter(dependent_task& task);
    QUERN_COLD void start_checked(dependent_task& task);
    bool launch(dependent_task& task, std::uint32_t links) noexcept;
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
    QUERN_COLD void settle_renamed() noexcept;

    task_window m_window;
    std::int64_t m_own = 0;  ///< of the spawned tasks: copies of renamed objects, combinations
    const task_record* m_owner = nullptr;    ///< null for a thread outside, and for a parent
    std::thread::id m_owner_thread;          ///< the thread outside
    intrusive_list<renamed_core> m_renamed;  ///< the objects that its tasks have used
    region_map m_map;
    open_reductions m_open;  ///< reductions that are not combined
    known_operators m_operators;
    replay_run* m_replay = nullptr;
    domain_waiter m_of_parent;
};

/// The creator of tasks lets others run until left(of) is at most `until`: true. False: nothing is
/// left to run in the pool, so the tasks may wait for what the caller does next. `checked`: of a
/// creator that has to be sure of that.
bool let_others_run(pool& in, std::int64_t (*left)(const void* of), const void* of,
                    std::int64_t until, wait_of_creator* checked = nullptr) noexcept;

/// The domain that the running dependent task belongs to. Throws std::logic_error, which names the
/// function, if none runs here.
domain_core& domain_of_running_task(const char* function);

}  // namespace quern::detail
