// SPDX-License-Identifier: BSL-1.0
// Stacks of their own for the tasks of a member, so that one whose call of MPI waits is left, and
// entered again later on the same thread. Protocol: ../README.md, section "Calls that wait".
#pragma once

#include "core/hangs.hpp"
#include "core/team.hpp"
#include "core/waiting.hpp"

#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/config.hpp>
#include <quern/scheduler/detail/process_registry.hpp>

#include <chrono>
#include <cstddef>
#include <list>

namespace quern::detail {
class context;
struct blocked_call;
}  // namespace quern::detail

namespace quern::omp {

/// Whether the process has calls that wait beside other tasks. The first one that asks makes such
/// calls possible.
bool has_calls_that_wait() noexcept;

/// Calls of members that wait, in the process: others than its threads may end them.
std::size_t waiting_calls() noexcept;

/// The stacks of a member, on which its tasks run. Only the member's thread.
class member_stacks {
public:
    /// Runs the task on a stack of its own. Returns when it has ended, or has been left.
    void run(member& here, deferred_task& next) noexcept;

    /// Whether a task on a stack of its own runs here: it can be left.
    bool can_leave() const noexcept { return m_running != nullptr; }
    /// The same for a wait of OpenMP, which may also stay.
    bool can_leave_for_wait() const noexcept;
    /// Leaves it until the wait is over. `call`: for which it waits, or null.
    void leave(member& here, const end_of_wait& until, const detail::blocked_call* call) noexcept;
    /// Enters one again whose wait is over; returns when that has ended or has been left again.
    bool enter_one(member& here) noexcept;
    bool has_one_to_enter() const noexcept;
    /// Enters one again or begins a task. False: there is none.
    bool run_one(member& here, eligible which) noexcept;

    /// A call for which the member itself waits.
    void begin_call(const detail::blocked_call& call) noexcept;
    void end_call() noexcept;

    /// Looks for the ends of calls, if some are waited for and the last look was not just now.
    void look() noexcept;
    /// How long the member may sleep after so many sleeps; at most `longest`.
    std::chrono::nanoseconds pause(std::chrono::nanoseconds longest) const noexcept;

    /// While it lives, reports show the calls that are waited for.
    class shown_calls {
    public:
        explicit shown_calls(member_stacks* of) noexcept : m_of(of) {}
        shown_calls(const shown_calls&) = delete;
        shown_calls& operator=(const shown_calls&) = delete;
        ~shown_calls() {
            if (m_is_shown) {
                m_of->hide_calls();
            }
        }
        void show() {
            if (m_of != nullptr && !m_is_shown) {
                m_is_shown = true;
                m_of->show_calls();
            }
        }

    private:
        member_stacks* m_of;
        bool m_is_shown = false;
    };

private:
    /// Lies on the stack.
    struct own_stack {
        detail::context* left = nullptr;     ///< where it was left
        detail::context* back_to = nullptr;  ///< who has begun or entered it
        end_of_wait until;
        const detail::blocked_call* call = nullptr;
        own_stack* next = nullptr;
    };
    struct beginning;

    static void begin(detail::context& self, void* what) noexcept;
    void switch_to(member& here, detail::context& to) noexcept;
    void show_calls();
    QUERN_COLD void hide_calls() noexcept;

    own_stack* m_running = nullptr;
    own_stack* m_first = nullptr;  ///< those that are left, the oldest first
    own_stack** m_end = &m_first;
    bool m_enters_next = false;
    const detail::blocked_call* m_own_call = nullptr;
    std::size_t m_count = 0;  ///< of those that are left
    std::size_t m_calls = 0;
    unsigned m_looks = 0;  ///< in vain, since something was entered
    detail::tick_count m_last_look = 0;
    std::list<detail::outside_wait> m_shown;
};

/// The present task, or the member, gives way to other tasks of the member.
void yield_with_stacks(member& here) noexcept;

}  // namespace quern::omp
