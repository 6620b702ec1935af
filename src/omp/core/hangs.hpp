// SPDX-License-Identifier: BSL-1.0
// Waits of members that last long, and the look for hangs. A wait is registered after some 50 ms of
// sleep; then reports show it (quern::task_report()). A registered wait looks from time to time
// whether all threads of the process wait so. Protocol: ../README.md, section "Hangs".
#pragma once

#include <quern/base/detail/call_frames.hpp>
#include <quern/base/detail/config.hpp>
#include <quern/base/detail/intrusive_list.hpp>
#include <quern/scheduler/detail/external_event.hpp>
#include <quern/scheduler/detail/wait_reason.hpp>

#include <atomic>
#include <cstdint>
#include <memory>

namespace quern::omp {

class crew;

/// What members wait for. The thing is the member, but for locks: there the lock.
extern const detail::wait_kind k_barrier_wait;
extern const detail::wait_kind k_tasks_wait;  ///< of a barrier: the team's tasks
extern const detail::wait_kind k_taskwait_wait;
extern const detail::wait_kind k_taskgroup_wait;
extern const detail::wait_kind k_depend_wait;  ///< taskwait with depend, and an undeferred task
extern const detail::wait_kind k_member_wait;  ///< what another member does in a loop or a single
extern const detail::wait_kind k_event_wait;   ///< the event of a task with detach
extern const detail::wait_kind k_lock_wait;
extern const detail::wait_kind k_critical_wait;

/// Whether a wait is over. Called by other threads too, while the waiting one stays.
struct end_of_wait {
    bool (*is_over)(const void* of) = nullptr;
    const void* of = nullptr;

    bool operator()() const noexcept { return is_over(of); }
};

/// A wait in the lists of the process.
class registered_wait : public detail::list_link {
public:
    registered_wait(const detail::wait_reason& why, const end_of_wait& end, bool searches,
                    const detail::frame_registers& from);
    registered_wait(const registered_wait&) = delete;
    registered_wait& operator=(const registered_wait&) = delete;
    ~registered_wait();

    const end_of_wait end;
    const bool searches;                  ///< for tasks, so that one who waits may end the wait
    std::atomic<std::uint64_t> looks{0};  ///< searches in vain
    const std::uint64_t number;           ///< of all that were registered

    const unsigned member_number;  ///< of the member that waits
    const unsigned team_size;      ///< 0: outside of all regions

    pid_t thread() const noexcept { return m_shown.thread; }

private:
    detail::external_event m_never;
    detail::outside_wait m_shown;
};

/// Lies on the stack of a waiting member.
class long_wait {
public:
    /// After so many sleeps the wait counts as long.
    explicit long_wait(unsigned sleeps) noexcept : m_sleeps_left(sleeps) {}

    /// The member has slept once more.
    bool is_due() noexcept {
        m_sleeps_left -= m_sleeps_left != 0 ? 1 : 0;
        return m_sleeps_left == 0;
    }
    /// Requires: is_due(). `from`: of a caller that returns after this object has gone.
    QUERN_COLD void look(const detail::wait_reason& why, const end_of_wait& end, bool searches,
                         const detail::frame_registers& from) noexcept;

private:
    unsigned m_sleeps_left;
    std::unique_ptr<registered_wait> m_known;
};

/// Reads how the setting hang-report is. Called before anything changes it.
void read_hang_setting();

/// The wait of that thread, or null. Requires: the process registry is locked.
const registered_wait* wait_of(pid_t thread) noexcept;

/// A crew whose idle members a look for hangs is to know.
void register_crew(crew& one);
void forget_crew(crew& one) noexcept;

}  // namespace quern::omp
