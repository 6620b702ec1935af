// SPDX-License-Identifier: BSL-1.0
// How a member waits: it runs tasks of its team, searches for some, yields, and then sleeps.
#pragma once

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

/// Runs a task if there is one.
bool run_some_task(member& here, eligible which) noexcept;

/// Counts the caller among those that search, so that others publish what they have.
class searching {
public:
    explicit searching(member& here) noexcept;
    searching(const searching&) = delete;
    searching& operator=(const searching&) = delete;
    ~searching();

private:
    detail::pool* m_where;
};

/// Whether the member spun or yielded; false: it is to sleep. Yields that take long, because others
/// compute, forbid more of them: docs/design/0036-yields-on-a-busy-machine.md.
bool spins(member& here, unsigned attempt) noexcept;

/// The caller has found nothing for the `attempt`th time: pauses, yields, or sleeps for a while.
void back_off(member& here, unsigned attempt, std::uint32_t epoch_seen) noexcept;

/// Something has happened for which a member may be waiting: wakes those that sleep.
void wake_sleepers(team& of) noexcept;

/// Returns when `done()`; runs tasks meanwhile.
template <class Done>
void wait_until(member& here, eligible which, Done&& done) noexcept {
    while (!done()) {
        if (run_some_task(here, which)) {
            continue;
        }
        const searching counted(here);
        for (unsigned attempt = 0;; ++attempt) {
            const std::uint32_t epoch = here.of->epoch.load(std::memory_order_acquire);
            if (done()) {
                return;
            }
            if (run_some_task(here, which)) {
                break;
            }
            back_off(here, attempt, epoch);
        }
    }
}

/// The same without running tasks, for what another member does soon.
template <class Done>
void wait_idly_until(member& here, Done&& done) noexcept {
    for (unsigned attempt = 0; !done(); ++attempt) {
        back_off(here, attempt, here.of->epoch.load(std::memory_order_acquire));
    }
}

}  // namespace quern::omp
