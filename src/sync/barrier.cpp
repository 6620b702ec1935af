// SPDX-License-Identifier: BSL-1.0
// The barrier: counts arrivals and starts the next phase.
#include <quern/sync/barrier.hpp>

#include <quern/base/detail/assert.hpp>

#include <stdexcept>
#include <string>

#include "words.hpp"

namespace quern::detail {

void barrier_base::refuse(std::ptrdiff_t expected) {
    throw std::invalid_argument("quern::barrier: the number of participants is " +
                                std::to_string(expected) + ", accepted are 0 and more");
}

barrier_base::arrival barrier_base::arrive(std::ptrdiff_t n, std::ptrdiff_t leaving) noexcept {
    const std::scoped_lock guard(m_lock);
    QUERN_ASSERT(n > 0, "barrier::arrive of a number that is not positive");
    QUERN_ASSERT(n <= m_left, "more arrive at a barrier than it expects in this phase");
    m_expected -= leaving;
    m_left -= n;
    return {m_phase.value(), m_left == 0};
}

void barrier_base::begin_next_phase() noexcept {
    level_waiter* waiting = nullptr;
    {
        const std::scoped_lock guard(m_lock);
        m_left = m_expected;
        waiting = m_phase.set(m_phase.value() + 1);
    }
    wake_all(waiting);
}

constexpr wait_kind barrier_base::k_wait{"barrier", sizeof(barrier_base), look};

void barrier_base::look(const void* copy, wait_findings& into) noexcept {
    const auto& b = *static_cast<const barrier_base*>(copy);
    say(into, "%td of %td have come", b.m_expected - b.m_left, b.m_expected);
}

}  // namespace quern::detail
