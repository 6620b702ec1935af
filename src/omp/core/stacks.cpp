// SPDX-License-Identifier: BSL-1.0
// Stacks of the tasks of members: how they are begun, left, and entered again. Protocol:
// ../README.md, section "Calls that wait".
#include "core/stacks.hpp"

#include "core/locks.hpp"
#include "core/tasks.hpp"
#include "core/waiting.hpp"

#include <quern/scheduler/detail/blocked_call.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

namespace quern::omp {

namespace {

/// Between two looks of a member that runs tasks, or searches for some. A look takes up to 1 us.
constexpr double k_look_ns = 5'000;
/// A member that waits for calls sleeps so long at first, and up to the second, with looks between:
/// as a thread that is no member.
constexpr std::chrono::nanoseconds k_first_pause{20'000};
constexpr std::chrono::nanoseconds k_longest_pause{1'000'000};
constexpr unsigned k_looks_of_each_pause = 16;
/// With so many stacks left, waits of OpenMP stay on theirs: each turn looks at all that are left.
constexpr std::size_t k_most_left = 1000;

std::atomic<std::size_t> g_waiting_calls{0};

/// The member that runs here and whose tasks have stacks, or null. A task that holds a lock, or is
/// in a critical region, stays: another one on this thread might want that lock.
member* member_that_may_leave() noexcept {
    member* const here = tls_member;
    return here != nullptr && here->stacks != nullptr && tls_held_locks == 0 ? here : nullptr;
}

bool is_set(const void* call) {
    return static_cast<const detail::blocked_call*>(call)->event.is_set();
}

bool run_others(const detail::blocked_call& call) noexcept {
    member* const here = member_that_may_leave();
    if (here == nullptr) {
        return false;
    }
    const end_of_wait until{is_set, &call};
    if (here->stacks->can_leave()) {
        here->stacks->leave(*here, until, &call);
        return true;
    }
    here->stacks->begin_call(call);
    wait_with_stacks(*here, eligible::all, call.why, until);
    here->stacks->end_call();
    return true;
}

constexpr detail::busy_threads k_members{
    .is_one = []() noexcept { return tls_member != nullptr && tls_member->at != nullptr; },
    .run = run_others};

}  // namespace

bool has_calls_that_wait() noexcept {
    static const bool has = [] {
        detail::have_busy_threads(k_members);
        return detail::begin_blocked_calls();
    }();
    return has;
}

std::size_t waiting_calls() noexcept { return g_waiting_calls.load(std::memory_order_acquire); }

// -- stacks --------------------------------------------------------------------------------------

struct member_stacks::beginning {
    member* here;
    deferred_task* next;
    detail::context* from;
};

void member_stacks::begin(detail::context& self, void* what) noexcept {
    const beginning of = *static_cast<beginning*>(what);  // gone when this stack has been left
    own_stack own;
    own.back_to = of.from;
    of.here->stacks->m_running = &own;
    run_deferred(*of.here, *of.next);
    detail::this_worker(self).leave_for(self, *own.back_to);
}

void member_stacks::run(member& here, deferred_task& next) noexcept {
    if (m_count >= k_most_left && can_leave()) {
        run_deferred(here, next);
        return;
    }
    detail::worker& on = *here.at;
    beginning what{&here, &next, detail::current_context()};
    detail::context& fresh = on.take_context(what.from->size());
    fresh.reopen_for_loop();
    fresh.own_task.restart(next.run);
    fresh.last_as(*what.from);
    fresh.reopen_for_call(begin, &what);
    switch_to(here, fresh);
}

/// The switch back comes when what runs there has ended or has been left.
void member_stacks::switch_to(member& here, detail::context& to) noexcept {
    task* const current = here.current;
    own_stack* const running = m_running;
    here.at->switch_context(*detail::current_context(), to, {});
    m_running = running;
    here.current = current;
}

void member_stacks::leave(member& here, const end_of_wait& until,
                          const detail::blocked_call* call) noexcept {
    own_stack& own = *m_running;
    own.left = detail::current_context();
    own.until = until;
    own.call = call;
    own.next = nullptr;
    *m_end = &own;
    m_end = &own.next;
    ++m_count;
    m_calls += call != nullptr ? 1 : 0;
    if (call != nullptr) {
        g_waiting_calls.fetch_add(1, std::memory_order_acq_rel);
    }
    const errno_kept kept;
    task* const current = here.current;
    here.at->switch_context(*own.left, *own.back_to, {});
    m_running = &own;
    here.current = current;
    m_calls -= call != nullptr ? 1 : 0;
    if (call != nullptr) {
        g_waiting_calls.fetch_sub(1, std::memory_order_acq_rel);
    }
}

bool member_stacks::enter_one(member& here) noexcept {
    for (own_stack** place = &m_first; *place != nullptr; place = &(*place)->next) {
        own_stack& one = **place;
        if (!one.until()) {
            continue;
        }
        *place = one.next;
        if (one.next == nullptr) {
            m_end = place;
        }
        --m_count;
        m_looks = 0;
        one.back_to = detail::current_context();
        switch_to(here, *one.left);
        return true;
    }
    return false;
}

/// In turns, since a task that yields can be entered again at once.
bool member_stacks::run_one(member& here, eligible which) noexcept {
    const bool enters = tls_held_locks == 0;
    m_enters_next = !m_enters_next;
    if (!m_enters_next && enters && enter_one(here)) {
        return true;
    }
    return run_some_task(here, which) || (enters && enter_one(here));
}

bool member_stacks::can_leave_for_wait() const noexcept {
    return can_leave() && m_count < k_most_left;
}

bool member_stacks::has_one_to_enter() const noexcept {
    const own_stack* each = m_first;
    while (each != nullptr && !each->until()) {
        each = each->next;
    }
    return each != nullptr;
}

void member_stacks::begin_call(const detail::blocked_call& call) noexcept {
    m_own_call = &call;
    ++m_calls;
    g_waiting_calls.fetch_add(1, std::memory_order_acq_rel);
}

void member_stacks::end_call() noexcept {
    m_own_call = nullptr;
    --m_calls;
    m_looks = 0;
    g_waiting_calls.fetch_sub(1, std::memory_order_acq_rel);
}

void member_stacks::look() noexcept {
    if (m_calls == 0) {
        return;
    }
    const detail::tick_count now = detail::ticks();
    if (now - m_last_look < detail::ticks_of_ns(k_look_ns)) {
        return;
    }
    m_last_look = now;
    ++m_looks;
    const own_stack* each = m_first;
    while (each != nullptr && each->call == nullptr) {
        each = each->next;
    }
    const detail::blocked_call* const any = each != nullptr ? each->call : m_own_call;
    if (any != nullptr) {
        const errno_kept kept;
        any->look();
    }
}

std::chrono::nanoseconds member_stacks::pause(std::chrono::nanoseconds longest) const noexcept {
    return m_calls == 0
               ? longest
               : std::min(k_longest_pause, k_first_pause * (1 + m_looks / k_looks_of_each_pause));
}

void member_stacks::show_calls() {
    for (const own_stack* each = m_first; each != nullptr; each = each->next) {
        if (const detail::blocked_call* const call = each->call) {
            m_shown.emplace_back(call->event, call->why, call->from);
        }
    }
}

void member_stacks::hide_calls() noexcept { m_shown.clear(); }

// -- waiting -------------------------------------------------------------------------------------

/// The lowest stack of a member begins and enters the others. A task on a stack of its own is left,
/// unless it holds a lock or there are too many: then it runs descendants above itself.
void wait_with_stacks(member& here, eligible which, const detail::wait_reason& why,
                      const end_of_wait& end) noexcept {
    member_stacks& own = *here.stacks;
    const bool may_leave = tls_held_locks == 0;
    const eligible begun = may_leave && !own.can_leave() ? eligible::all : which;
    if (may_leave && own.can_leave_for_wait()) {
        if (!end()) {
            own.leave(here, end, nullptr);
        }
        return;
    }
    while (!end()) {
        own.look();
        if (own.run_one(here, begun)) {
            continue;
        }
        if (deferred_task* const found = search_until(here, begun, why, end)) {
            run_found(here, *found);
        }
    }
}

void yield_with_stacks(member& here) noexcept {
    member_stacks& own = *here.stacks;
    own.look();
    if (tls_held_locks == 0 && own.can_leave()) {
        own.leave(here, {[](const void*) { return true; }, nullptr}, nullptr);
    } else {
        own.run_one(here, eligible::descendants);
    }
}

}  // namespace quern::omp
