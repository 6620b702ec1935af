// SPDX-License-Identifier: BSL-1.0
// The shared mutex: admission and hand-over. The header documents the callers.
#include <quern/sync/shared_mutex.hpp>

#include <quern/base/detail/assert.hpp>
#include <quern/scheduler/held_locks.hpp>

#include <mutex>
#include <system_error>

#include "timed_waiting.hpp"
#include "words.hpp"

namespace quern {

/// Admits `r` if the present holders allow it. Under the spin lock.
bool shared_mutex::admit(const request& r) noexcept {
    if (m_writer != 0 || (!r.shared && m_readers != 0)) {
        return false;
    }
    if (r.shared) {
        ++m_readers;
    } else {
        m_writer = r.holder;
    }
    return true;
}

/// As admit(), for a newcomer: behind all queued requests.
bool shared_mutex::admit_first(const request& r) noexcept {
    return m_queue.looks_empty() && admit(r);
}

/// After an unlock: admits the first in the queue and those that may share with it.
shared_mutex::request* shared_mutex::hand_over() noexcept {
    return m_queue.pop_while([this](const request& r) { return admit(r); });
}

bool shared_mutex::try_admit(const request& r) noexcept {
    const std::scoped_lock guard(m_lock);
    return admit_first(r);
}

bool shared_mutex::try_lock_as(bool shared) noexcept {
    return detail::note_if_locked(try_admit(request(detail::this_holder(), shared)));
}

bool shared_mutex::admit_at_once(const request& r) {
    const std::scoped_lock guard(m_lock);
    if (admit_first(r)) {
        return true;
    }
    if (m_writer == r.holder) {
        throw std::system_error(std::make_error_code(std::errc::resource_deadlock_would_occur),
                                "quern::shared_mutex: locked again by its writer");
    }
    return false;
}

bool shared_mutex::enqueue(request& self) noexcept {
    const std::scoped_lock guard(m_lock);
    if (admit_first(self)) {
        return false;
    }
    if (self.late) {
        self.expired = true;
        return false;
    }
    m_queue.push(self);
    return true;
}

/// Removes a request whose limit has come. Those behind it may be admitted now.
bool shared_mutex::withdraw(request& self) noexcept {
    request* next_owners = nullptr;
    {
        const std::scoped_lock guard(m_lock);
        if (!m_queue.withdraw(self)) {
            return false;
        }
        next_owners = hand_over();
    }
    detail::wake_all(next_owners);
    self.wake();
    return true;
}

void shared_mutex::lock_as(bool shared) {
    request self(detail::this_holder(), shared);
    if (!admit_at_once(self)) {
        detail::wait_in(self, {&k_wait, this}, [this, &self] { return enqueue(self); });
    }
    detail::note_locked();
}

template <class Limit>
bool shared_mutex::lock_as_within(bool shared, const Limit& limit) {
    request self(detail::this_holder(), shared);
    return detail::note_if_locked(
        admit_at_once(self) ||
        (!detail::has_passed(limit) &&
         detail::wait_in_until(
             self, {&k_wait, this}, limit, [this, &self] { return enqueue(self); },
             [this, &self] { return withdraw(self); })));
}

bool shared_mutex::lock_as_until(bool shared, detail::timer::clock::time_point deadline) {
    return lock_as_within(shared, deadline);
}

bool shared_mutex::lock_as_until(bool shared, const std::stop_token& stop) {
    return lock_as_within(shared, stop);
}

bool shared_mutex::lock_as_until(bool shared, const detail::stop_or_time& limit) {
    return lock_as_within(shared, limit);
}

constexpr detail::wait_kind shared_mutex::k_wait{"shared_mutex", sizeof(shared_mutex), look, true};

void shared_mutex::look(const void* copy, detail::wait_findings& into) noexcept {
    const auto& m = *static_cast<const shared_mutex*>(copy);
    into.holder = m.m_writer;
    if (m.m_writer != 0) {
        detail::say(into, "held by a writer");
    } else {
        detail::say(into, "held by %zu %s", m.m_readers, m.m_readers == 1 ? "reader" : "readers");
    }
}

void shared_mutex::unlock() noexcept {
    detail::note_unlocked();
    unlock_of_writer(detail::this_holder());
}

void shared_mutex::unlock_shared() noexcept {
    detail::note_unlocked();
    unlock_of_reader();
}

void shared_mutex::unlock_of_writer(std::uintptr_t holder) noexcept {
    request* next_owners = nullptr;
    {
        const std::scoped_lock guard(m_lock);
        QUERN_ASSERT(m_writer == holder,
                     "a shared mutex is unlocked by a task or thread that is not its writer "
                     "(a coroutine that holds one across a co_await needs co_lock)");
        m_writer = 0;
        next_owners = hand_over();
    }
    detail::wake_all(next_owners);
}

void shared_mutex::unlock_of_reader() noexcept {
    request* next_owners = nullptr;
    {
        const std::scoped_lock guard(m_lock);
        QUERN_ASSERT(m_readers != 0, "a shared mutex is unlocked by a reader while it has none");
        --m_readers;
        next_owners = hand_over();
    }
    detail::wake_all(next_owners);
}

}  // namespace quern
