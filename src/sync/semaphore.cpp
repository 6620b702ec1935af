// SPDX-License-Identifier: BSL-1.0
// The semaphore: limits, waiting for a permit, and waking.
#include <quern/sync/semaphore.hpp>

#include <quern/base/detail/assert.hpp>

#include <stdexcept>
#include <string>

#include "timed_waiting.hpp"
#include "words.hpp"

namespace quern::detail {

void semaphore_base::refuse(std::ptrdiff_t count, std::ptrdiff_t max) {
    throw std::invalid_argument("quern::counting_semaphore: the count is " + std::to_string(count) +
                                ", accepted are 0 to " + std::to_string(max));
}

void semaphore_base::release(std::ptrdiff_t n, std::ptrdiff_t max) noexcept {
    QUERN_ASSERT(n >= 0 && n <= max, "counting_semaphore::release of a number not in 0..max()");
    const auto [before, next_owners] = m_permits.give(n);
    QUERN_ASSERT(before <= max - n, "a semaphore is released above its maximum");
    wake_all(next_owners);
}

void semaphore_base::wait_for_permit() noexcept {
    waiter self;
    wait_in(self, {&k_wait, this}, [this, &self] { return m_permits.enqueue(self); });
}

template <class Limit>
bool semaphore_base::acquire_within(const Limit& limit) noexcept {
    if (m_permits.try_take()) {
        return true;
    }
    if (has_passed(limit)) {
        return false;
    }
    if (m_permits.take()) {
        return true;
    }
    waiter self;
    return wait_in_until(
        self, {&k_wait, this}, limit, [this, &self] { return m_permits.enqueue(self); },
        [this, &self] { return m_permits.withdraw(self) && wake_expired(self); });
}

bool semaphore_base::acquire_until(timer::clock::time_point deadline) noexcept {
    return acquire_within(deadline);
}

bool semaphore_base::acquire_until(const std::stop_token& stop) noexcept {
    return acquire_within(stop);
}

bool semaphore_base::acquire_until(const stop_or_time& limit) noexcept {
    return acquire_within(limit);
}

constexpr wait_kind semaphore_base::k_wait{"counting_semaphore", sizeof(semaphore_base), look};

void semaphore_base::look(const void* copy, wait_findings& into) noexcept {
    const std::ptrdiff_t count = static_cast<const semaphore_base*>(copy)->m_permits.count();
    if (count > 0) {
        say(into, "%td permits are left", count);
    } else {
        say(into, "no permit is left, %td are wanted", -count);
    }
}

}  // namespace quern::detail
