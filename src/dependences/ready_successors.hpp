// SPDX-License-Identifier: BSL-1.0
// Releasing accesses: follows the links of each, to tasks that are ready now, and to accesses of
// tasks that have ended, which are released in turn. A loop, for the nesting has no limit.
#pragma once

#include <quern/dependences/detail/dependent_task.hpp>
#include <quern/scheduler/detail/external_event.hpp>

#include <span>

namespace quern::detail {

/// A taskwait(on()): the owner of a domain, suspended or asleep.
struct access_waiter : dependence_target {
    access_waiter(const domain_core& its, std::span<const region> what_it_wants) noexcept
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
    const domain_core* of;           ///< for reports
    std::span<const region> wanted;  ///< the same; lives as long as the waiter
};

/// The tasks that a completed one has made ready, the best first.
class ready_successors {
public:
    /// Releases the access and all that only waits for it.
    void release(access_record& one) noexcept;

    void move_to(ready_batch& batch) noexcept;

private:
    dependence_link* satisfy(dependence_target& target) noexcept;
    void add(dependent_task& task) noexcept;

    runnable* m_best = nullptr;  ///< of the largest rank, and of these the oldest
    ready_batch m_others;
};

}  // namespace quern::detail
