// SPDX-License-Identifier: BSL-1.0
// How a member waits: it runs tasks of its team, searches for some, yields, and then sleeps.
#pragma once

#include "core/hangs.hpp"
#include "core/team.hpp"

#include <cerrno>
#include <cstdint>

namespace quern::omp {

/// Keeps the program's errno, which calls of the kernel change.
class errno_kept {
public:
    errno_kept() noexcept : m_value(errno) {}
    errno_kept(const errno_kept&) = delete;
    errno_kept& operator=(const errno_kept&) = delete;
    ~errno_kept() { errno = m_value; }

private:
    int m_value;
};

/// Which tasks a waiting member may begin: all of its team, or the descendants of its present one.
enum class eligible : std::uint8_t { all, descendants };

/// wait_until() of a member whose tasks have stacks: core/stacks.hpp.
void wait_with_stacks(member& here, eligible which, const detail::wait_reason& why,
                      const end_of_wait& end) noexcept;

/// Runs a task if there is one.
bool run_some_task(member& here, eligible which) noexcept;

/// Searches for a task, with pauses, until there is one, which the caller runs, or the wait is
/// over: null. Null too if a stack of the member can be entered.
deferred_task* search_until(member& here, eligible which, const detail::wait_reason& why,
                            const end_of_wait& end) noexcept;

/// Whether the member spun or yielded; false: it is to sleep. Yields that take long, because others
/// compute, forbid more of them: docs/design/0036-yields-on-a-busy-machine.md.
bool spins(member& here, unsigned attempt) noexcept;

/// The caller has found nothing for the `attempt`th time: pauses, yields, or sleeps for a while.
/// True: it has slept.
bool back_off(member& here, unsigned attempt, std::uint32_t epoch_seen) noexcept;

/// Something has happened for which a member may be waiting: wakes those that sleep.
void wake_sleepers(team& of) noexcept;

/// Runs a task that search_until() has found.
void run_found(member& here, deferred_task& found) noexcept;

template <class Done>
end_of_wait end_when(const Done& done) noexcept {
    return {[](const void* of) -> bool { return (*static_cast<const Done*>(of))(); }, &done};
}

/// Returns when `done()`; runs tasks meanwhile. Other threads may call `done` too.
template <class Done>
void wait_until(member& here, eligible which, const detail::wait_kind& kind,
                const Done& done) noexcept {
    if (here.stacks != nullptr) [[unlikely]] {
        wait_with_stacks(here, which, {&kind, &here}, end_when(done));
        return;
    }
    while (!done()) {
        if (run_some_task(here, which)) {
            continue;
        }
        deferred_task* const found = search_until(here, which, {&kind, &here}, end_when(done));
        if (found == nullptr) {
            return;
        }
        run_found(here, *found);
    }
}
template <class Done>
void wait_until(member& here, eligible which, const Done& done) noexcept {
    wait_until(here, which, k_event_wait, done);
}

/// The same without running tasks, for what another member does soon.
void sleep_until(member& here, const detail::wait_reason& why, const end_of_wait& end) noexcept;

template <class Done>
void wait_idly_until(member& here, const Done& done) noexcept {
    if (!done()) {
        sleep_until(here, {&k_member_wait, &here}, end_when(done));
    }
}

}  // namespace quern::omp
