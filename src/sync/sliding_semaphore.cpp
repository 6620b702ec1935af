// SPDX-License-Identifier: BSL-1.0
// The sliding semaphore: moves the window and wakes the waiters in it.
#include <quern/sync/sliding_semaphore.hpp>

#include <cinttypes>
#include <limits>
#include <stdexcept>
#include <string>

#include "words.hpp"

namespace quern {

namespace {

std::int64_t checked(std::int64_t max_difference) {
    if (max_difference < 0) {
        throw std::invalid_argument("quern::sliding_semaphore: the maximal difference is " +
                                    std::to_string(max_difference) + ", accepted are 0 and more");
    }
    return max_difference;
}

/// Requires: max_difference >= 0.
std::int64_t end_of(std::int64_t max_difference, std::int64_t lower_limit) noexcept {
    constexpr std::int64_t k_most = std::numeric_limits<std::int64_t>::max();
    return lower_limit > k_most - max_difference ? k_most : lower_limit + max_difference;
}

}  // namespace

sliding_semaphore::sliding_semaphore(std::int64_t max_difference, std::int64_t lower_limit)
    : m_max_difference(checked(max_difference)),
      m_lower_limit(lower_limit),
      m_end(end_of(max_difference, lower_limit)) {}

void sliding_semaphore::set_max_difference(std::int64_t max_difference, std::int64_t lower_limit) {
    checked(max_difference);
    detail::level_waiter* next_owners = nullptr;
    {
        const std::scoped_lock guard(m_lock);
        m_max_difference = max_difference;
        m_lower_limit = lower_limit;
        next_owners = m_end.set(end_of(max_difference, lower_limit));
    }
    detail::wake_all(next_owners);
}

bool sliding_semaphore::try_wait(std::int64_t upper_limit) const noexcept {
    const std::scoped_lock guard(m_lock);
    return m_end.reaches(upper_limit);
}

void sliding_semaphore::signal(std::int64_t lower_limit) noexcept {
    detail::level_waiter* next_owners = nullptr;
    {
        const std::scoped_lock guard(m_lock);
        if (lower_limit <= m_lower_limit) {
            return;
        }
        m_lower_limit = lower_limit;
        next_owners = m_end.set(end_of(m_max_difference, lower_limit));
    }
    detail::wake_all(next_owners);
}

constexpr detail::wait_kind sliding_semaphore::k_wait{"sliding_semaphore",
                                                      sizeof(sliding_semaphore), look};

void sliding_semaphore::look(const void* copy, detail::wait_findings& into) noexcept {
    const auto& s = *static_cast<const sliding_semaphore*>(copy);
    detail::say(into, "signalled up to %" PRId64 ", so only %" PRId64 " and less may go on",
                s.m_lower_limit, s.m_end.value());
}

}  // namespace quern
