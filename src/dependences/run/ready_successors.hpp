// SPDX-License-Identifier: BSL-1.0
// What follows from the end of a task: accesses are released, links are followed to tasks that are
// ready now and to accesses of tasks that have ended, locks are handed on, parents are complete.
// Loops, for the nesting has no limit.
#pragma once

#include <quern/dependences/detail/dependent_task.hpp>
#include <quern/scheduler/detail/external_event.hpp>

#include <span>

namespace quern::detail {

/// The owner of a domain, suspended or asleep: in a taskwait(on()), or until a task is complete.
struct access_waiter : dependence_target {
    access_waiter(const domain_core& its, std::span<const wanted_region> what_it_wants) noexcept
        : dependence_target(what::waiter), of(&its), wanted(what_it_wants) {}
    void wake() noexcept {
        if (task != nullptr) {
            detail::resume(*task);
        } else {
            thread.set();
        }
    }

    context* task = nullptr;
    external_event thread;
    const domain_core* of;                  ///< for reports
    std::span<const wanted_region> wanted;  ///< the same; lives as long as the waiter
};

/// The tasks that have become ready, the best first, and those that are complete.
class ready_successors {
public:
    ready_successors() noexcept = default;
    ready_successors(const ready_successors&) = delete;
    ready_successors& operator=(const ready_successors&) = delete;

    /// Releases the access and all that only waits for it.
    void release(access_record& one) noexcept;
    /// The same of an access that is given up and waits for nothing, unless it is left to the end
    /// of its task.
    void release_given_up(access_record& one) noexcept;
    /// All of its predecessors have been released.
    void release_entry(weak_entry& one) noexcept;
    /// No child uses the part.
    void release_part(released_part& one) noexcept;
    /// The task and its children have ended.
    void complete(dependent_task& one) noexcept;

    void add(dependent_task& ready) noexcept;
    void move_to(ready_batch& batch) noexcept;

private:
    void follow(dependence_link* first) noexcept;
    dependence_link* satisfy(dependence_target& target) noexcept;
    dependence_link* close(access_record& one) noexcept;
    static bool may_release(access_record& one) noexcept;
    static dependence_link* released_links(access_record& one) noexcept;
    QUERN_COLD void place_all() noexcept;
    QUERN_COLD void send_communication() noexcept;
    void hand_on_locks(access_record& of) noexcept;

    runnable* m_best = nullptr;  ///< of the largest rank, and of these the oldest
    ready_batch m_others;
    bool m_has_large = false;  ///< some should run where their data are
};

}  // namespace quern::detail
