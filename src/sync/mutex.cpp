// SPDX-License-Identifier: BSL-1.0
// The slow path of the mutexes: spin a little, then queue.
#include <quern/sync/mutex.hpp>
#include <quern/sync/recursive_mutex.hpp>

#include <system_error>

#include "timed_waiting.hpp"
#include "words.hpp"

namespace quern {

namespace detail {

namespace {

/// Number of checks of a mutex that may be unlocked soon, before the caller suspends: about the
/// cost of a suspension and a resumption (guessed).
constexpr int k_spins = 20;

bool take_by_spinning(task_ownership& wanted, std::uintptr_t me) noexcept {
    // Behind other waiters spinning is useless: they come first.
    for (int i = 0; i < k_spins && !wanted.looks_awaited(); ++i) {
        if (wanted.looks_free() && wanted.try_take(me)) {
            return true;
        }
        std_atomics::pause();
    }
    return false;
}

}  // namespace

void take_or_wait(task_ownership& wanted, std::uintptr_t me, const wait_reason& why) noexcept {
    if (!take_by_spinning(wanted, me)) {
        claimant self(me);
        wait_in(self, why, [&wanted, &self] { return wanted.enqueue(self); });
    }
}

template <class Limit>
static bool take_or_wait_within(task_ownership& wanted, std::uintptr_t me, const wait_reason& why,
                                const Limit& limit) noexcept {
    if (wanted.try_take(me)) {
        return true;
    }
    if (has_passed(limit)) {
        return false;
    }
    if (take_by_spinning(wanted, me)) {
        return true;
    }
    claimant self(me);
    return wait_in_until(
        self, why, limit, [&wanted, &self] { return wanted.enqueue_in_time(self); },
        [&wanted, &self] { return wanted.withdraw(self) && wake_expired(self); });
}

bool take_or_wait_until(task_ownership& wanted, std::uintptr_t me, const wait_reason& why,
                        timer::clock::time_point deadline) noexcept {
    return take_or_wait_within(wanted, me, why, deadline);
}

bool take_or_wait_until(task_ownership& wanted, std::uintptr_t me, const wait_reason& why,
                        const std::stop_token& stop) noexcept {
    return take_or_wait_within(wanted, me, why, stop);
}

bool take_or_wait_until(task_ownership& wanted, std::uintptr_t me, const wait_reason& why,
                        const stop_or_time& limit) noexcept {
    return take_or_wait_within(wanted, me, why, limit);
}

}  // namespace detail

constexpr detail::wait_kind mutex::k_wait{"mutex", sizeof(mutex), look, true};

void mutex::look(const void* copy, detail::wait_findings& into) noexcept {
    into.holder = static_cast<const mutex*>(copy)->m_owner.holder();
}

void mutex::refuse_holder(std::uintptr_t me) const {
    if (m_owner.owned_by(me)) {
        throw std::system_error(std::make_error_code(std::errc::resource_deadlock_would_occur),
                                "quern::mutex: locked again by its holder");
    }
}

void mutex::lock_contended(std::uintptr_t me, const detail::wait_kind& why) {
    refuse_holder(me);
    detail::take_or_wait(m_owner, me, {&why, this});
}

template <class Limit>
bool mutex::lock_within(const Limit& limit) {
    const std::uintptr_t me = detail::this_holder();
    refuse_holder(me);
    return detail::note_if_locked(detail::take_or_wait_until(m_owner, me, {&k_wait, this}, limit));
}

bool mutex::lock_until(detail::timer::clock::time_point deadline) { return lock_within(deadline); }

bool mutex::lock_until(const detail::stop_or_time& limit) { return lock_within(limit); }

bool mutex::lock(const std::stop_token& stop) { return lock_within(stop); }

constexpr detail::wait_kind recursive_mutex::k_wait{"recursive_mutex", sizeof(recursive_mutex),
                                                    look, true};

void recursive_mutex::look(const void* copy, detail::wait_findings& into) noexcept {
    const auto& m = *static_cast<const recursive_mutex*>(copy);
    into.holder = m.m_owner.holder();
    detail::say(into, "locked %zu times", m.m_again + 1);
}

void recursive_mutex::wait_for_it(std::uintptr_t me) noexcept {
    detail::take_or_wait(m_owner, me, {&k_wait, this});
}

template <class Limit>
bool recursive_mutex::lock_within(const Limit& limit) noexcept {
    const std::uintptr_t me = detail::this_holder();
    if (m_owner.owned_by(me)) {
        ++m_again;
        detail::note_locked();
        return true;
    }
    return detail::note_if_locked(detail::take_or_wait_until(m_owner, me, {&k_wait, this}, limit));
}

bool recursive_mutex::lock_until(detail::timer::clock::time_point deadline) noexcept {
    return lock_within(deadline);
}

bool recursive_mutex::lock_until(const detail::stop_or_time& limit) noexcept {
    return lock_within(limit);
}

bool recursive_mutex::lock(const std::stop_token& stop) noexcept { return lock_within(stop); }

}  // namespace quern
