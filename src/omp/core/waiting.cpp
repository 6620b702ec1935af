// SPDX-License-Identifier: BSL-1.0
// Members that wait: where they find tasks, and how they give the processor away.
#include "core/waiting.hpp"

#include "core/events.hpp"
#include "core/locks.hpp"
#include "core/observing.hpp"
#include "core/stacks.hpp"
#include "core/tasks.hpp"

#include <quern/base/detail/atomics.hpp>
#include <quern/base/detail/call_frames.hpp>
#include <quern/base/detail/clock.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <chrono>

namespace quern::omp {

namespace {

/// How long a thief waits between two requests, and for the answer, before it takes tasks over.
constexpr double k_request_ns = 5'000;
constexpr double k_patience_ns = 10'000;

/// Sleeping members look for tasks in these intervals, should a wake-up have missed them.
constexpr std::chrono::nanoseconds k_sleep{2'000'000};
/// A member that has slept so often is known to reports from then on.
constexpr unsigned k_short_sleeps = 25;

bool may_begin(const member& here, const deferred_task& found, eligible which) noexcept {
    return which == eligible::all || found.parent == here.current ||
           found.descends_from(*here.current);
}

/// The youngest of its own tasks, or null: none, or one that it may not begin now.
deferred_task* take_own(member& here, eligible which) noexcept {
    detail::runnable* const item = here.at->pop();
    if (item == nullptr) {
        return nullptr;
    }
    deferred_task& found = deferred_task::from(*item);
    if (may_begin(here, found, which)) {
        return &found;
    }
    here.at->put_back(*item);
    return nullptr;
}

/// The oldest task of a member, which may be the caller: then one that lies below some that it may
/// not begin.
deferred_task* take_from(detail::worker_shared& victim, detail::tick_count now,
                         bool requests) noexcept {
    const detail::steal_end deque = victim.deque();
    if (detail::runnable* const item = deque.steal()) {
        return &deferred_task::from(*item);
    }
    if (!deque.has_private()) {
        return nullptr;
    }
    if (deque.is_silent(now, detail::ticks_of_ns(k_patience_ns)) && victim.take_over()) {
        detail::runnable* const item = deque.steal();
        return item != nullptr ? &deferred_task::from(*item) : nullptr;
    }
    if (requests) {
        deque.request_work(now);
    }
    return nullptr;
}

std::uint64_t next_random(member& here) noexcept {
    here.random ^= here.random << 13;
    here.random ^= here.random >> 7;
    here.random ^= here.random << 17;
    return here.random;
}

deferred_task* steal(member& here, eligible which) noexcept {
    team& of = *here.of;
    const detail::tick_count now = detail::ticks();
    const bool requests = now - here.last_request > detail::ticks_of_ns(k_request_ns);
    if (requests) {
        here.last_request = now;
    }
    const auto start = static_cast<unsigned>(next_random(here) % of.size);
    for (unsigned i = 0; i < of.size; ++i) {
        member& other = of.members[(start + i) % of.size];
        detail::worker_shared* const victim = other.at;
        if (victim == nullptr || (&other == &here && which == eligible::all)) {
            continue;
        }
        if (&other == &here && here.at->deque().has_private()) {
            here.at->deque().publish_half();
        }
        deferred_task* const found = take_from(*victim, now, requests);
        if (found == nullptr) {
            continue;
        }
        if (may_begin(here, *found, which)) {
            here.at->stats().stolen.add();
            return found;
        }
        here.at->push(*found);  // others find it here, and below it the next look something else
    }
    return nullptr;
}

}  // namespace

namespace {

/// Counts the caller among those that search, so that others publish what they have.
class searching {
public:
    explicit searching(member& here) noexcept : m_where(here.of->workers) {
        if (m_where != nullptr) {
            m_where->gate().begin_search();
        }
    }
    searching(const searching&) = delete;
    searching& operator=(const searching&) = delete;
    ~searching() {
        if (m_where != nullptr) {
            m_where->gate().end_search();  // members that sleep do so in back_off, not in the gate
        }
    }

private:
    detail::pool* m_where;
};

/// A task that the member may begin now, or null. Ends those whose events others have fulfilled.
deferred_task* find_task(member& here, eligible which) noexcept {
    if (here.at == nullptr) {
        return nullptr;
    }
    deferred_task* const found = take_own(here, which);
    if (found != nullptr) {
        return found;
    }
    if (here.of->fulfilled.load(std::memory_order_relaxed) != nullptr) [[unlikely]] {
        end_fulfilled(here);
    }
    return steal(here, which);
}

}  // namespace

bool run_some_task(member& here, eligible which) noexcept {
    deferred_task* const found = find_task(here, which);
    if (found == nullptr) {
        return false;
    }
    run_found(here, *found);
    return true;
}

/// Above a task that holds a lock tasks have no stacks of their own: they could not be left.
void run_found(member& here, deferred_task& found) noexcept {
    if (here.stacks != nullptr && tls_held_locks == 0) [[unlikely]] {
        here.stacks->run(here, found);
    } else {
        run_deferred(here, found);
    }
}

namespace {

/// One of the member's stacks waits no longer. Looks for the ends of calls.
bool can_enter_stack(const member& here) noexcept {
    if (here.stacks == nullptr) [[likely]] {
        return false;
    }
    here.stacks->look();
    return tls_held_locks == 0 && here.stacks->has_one_to_enter();
}

}  // namespace

deferred_task* search_until(member& here, eligible which, const detail::wait_reason& why,
                            const end_of_wait& end) noexcept {
    const searching counted(here);
    const noted_wait noted(&why);
    long_wait lasts(k_short_sleeps);
    member_stacks::shown_calls shown(here.stacks);
    for (unsigned attempt = 0;; ++attempt) {
        const std::uint32_t epoch = here.of->epoch.load(std::memory_order_acquire);
        if (end() || can_enter_stack(here)) {
            return nullptr;
        }
        if (deferred_task* const found = find_task(here, which)) {
            return found;
        }
        if (back_off(here, attempt, epoch) && lasts.is_due()) [[unlikely]] {
            const errno_kept kept;
            shown.show();
            lasts.look(why, end, true, detail::registers_here());
        }
    }
}

void sleep_until(member& here, const detail::wait_reason& why, const end_of_wait& end) noexcept {
    const noted_wait noted(&why);
    long_wait lasts(k_short_sleeps);
    for (unsigned attempt = 0; !end(); ++attempt) {
        if (back_off(here, attempt, here.of->epoch.load(std::memory_order_acquire)) &&
            lasts.is_due()) [[unlikely]] {
            const errno_kept kept;
            lasts.look(why, end, false, detail::registers_here());
        }
    }
}

bool spins(member& here, unsigned attempt) noexcept {
    const team& of = *here.of;
    if (attempt < of.pauses) {
        detail::std_atomics::pause();
        return true;
    }
    if (attempt < of.pauses + of.yields && here.yields.may_yield(detail::ticks())) {
        here.yields.yield();
        return true;
    }
    return false;
}

bool back_off(member& here, unsigned attempt, std::uint32_t epoch_seen) noexcept {
    const errno_kept kept;
    if (spins(here, attempt)) {
        return false;
    }
    team& of = *here.of;
    of.sleepers.fetch_add(1, std::memory_order_seq_cst);
    detail::std_atomics::futex_wait_for(
        of.epoch, epoch_seen, here.stacks == nullptr ? k_sleep : here.stacks->pause(k_sleep));
    of.sleepers.fetch_sub(1, std::memory_order_relaxed);
    return true;
}

void wake_sleepers(team& of) noexcept {
    if (of.sleepers.load(std::memory_order_seq_cst) != 0) [[unlikely]] {
        constexpr int k_all = 1 << 30;
        const errno_kept kept;
        detail::std_atomics::futex_wake(of.epoch, k_all);
    }
}

}  // namespace quern::omp
