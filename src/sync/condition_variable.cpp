// SPDX-License-Identifier: BSL-1.0
// Waits for notices and gives them; the protocol is in notices.hpp.
#include <quern/sync/condition_variable.hpp>

#include <quern/base/detail/assert.hpp>

#include "timed_waiting.hpp"

namespace quern {

namespace {

constexpr detail::wait_kind k_notice_wait{"a notice of a condition_variable"};

/// The publication of a wait: queues the caller for a notice and gives up the mutex. A late waiter
/// goes to the end of the mutex's queue, so that a wait with a passed deadline also lets others
/// have the mutex.
bool leave(detail::notice_board& board, detail::notice_waiter& self) noexcept {
    detail::waiter* next_owner = nullptr;
    const bool queued = board.enqueue(self, next_owner);
    if (next_owner != nullptr) {
        next_owner->wake();
    }
    return queued || !detail::notice_board::pass_on(self);
}

}  // namespace

/// Queues a notified waiter for the mutex, or wakes it if it got the mutex at once.
void condition_variable::pass(detail::notice_waiter& taken) noexcept {
    if (taken.kind == detail::waiter::sleeper::task) {
        taken.suspended->waits.change({&mutex::k_wait, taken.wanted});
    }
    if (detail::notice_board::pass_on(taken)) {
        taken.wake();
    }
}

std::uintptr_t condition_variable::checked_holder(const std::unique_lock<mutex>& lock) noexcept {
    const std::uintptr_t me = detail::this_holder();
    QUERN_ASSERT(lock.owns_lock() && lock.mutex()->m_owner.owned_by(me),
                 "condition_variable::wait is called without holding the lock");
    return me;
}

void condition_variable::wait(std::unique_lock<mutex>& lock) noexcept {
    detail::notice_waiter self(checked_holder(lock), lock.mutex()->m_owner);
    detail::note_unlocked();
    detail::wait_in(self, {&k_notice_wait, this}, [this, &self] { return leave(m_notices, self); });
    detail::note_locked();
}

template <class Limit>
bool condition_variable::wait_within(std::unique_lock<mutex>& lock, const Limit& limit) noexcept {
    detail::notice_waiter self(checked_holder(lock), lock.mutex()->m_owner);
    detail::note_unlocked();
    const bool in_time = detail::wait_in_until(
        self, {&k_notice_wait, this}, limit, [this, &self] { return leave(m_notices, self); },
        [this, &self] {
            if (!m_notices.withdraw(self)) {
                return false;
            }
            pass(self);
            return true;
        });
    detail::note_locked();
    return in_time;
}

bool condition_variable::wait_until_steady(std::unique_lock<mutex>& lock,
                                           detail::timer::clock::time_point deadline) noexcept {
    return wait_within(lock, deadline);
}

void condition_variable::wait_until_stopped(std::unique_lock<mutex>& lock,
                                            const std::stop_token& stop) noexcept {
    wait_within(lock, stop);
}

bool condition_variable::wait_until_either(std::unique_lock<mutex>& lock,
                                           const detail::stop_or_time& limit) noexcept {
    return wait_within(lock, limit);
}

void condition_variable::notify_first() noexcept {
    if (detail::notice_waiter* const first = m_notices.take_first()) {
        pass(*first);
    }
}

void condition_variable::notify_each() noexcept {
    detail::notice_waiter* first = m_notices.take_all();
    while (first != nullptr) {
        auto* const next = static_cast<detail::notice_waiter*>(first->next);
        pass(*first);
        first = next;
    }
}

}  // namespace quern
