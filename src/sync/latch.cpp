// SPDX-License-Identifier: BSL-1.0
// The latch: counting is separate from opening, so that wait() cannot return while the last
// count_down() still accesses the latch.
#include <quern/sync/latch.hpp>

#include <quern/base/detail/assert.hpp>

#include <stdexcept>
#include <string>

#include "words.hpp"

namespace quern {

void latch::refuse(std::ptrdiff_t expected) {
    throw std::invalid_argument("quern::latch: the count is " + std::to_string(expected) +
                                ", accepted are 0 and more");
}

void latch::count_down(std::ptrdiff_t n) noexcept {
    QUERN_ASSERT(n >= 0, "latch::count_down by a negative number");
    if (n == 0) {
        return;
    }
    // acq_rel: release pairs with the acquire of the last count_down, which publishes all effects
    // by opening the gate.
    const std::ptrdiff_t before = m_left.fetch_sub(n, std::memory_order_acq_rel);
    QUERN_ASSERT(before >= n, "a latch is counted down below zero");
    if (before == n) {
        detail::wake_all(m_gate.open());
    }
}

constexpr detail::wait_kind latch::k_wait{"latch", sizeof(latch), look};

void latch::look(const void* copy, detail::wait_findings& into) noexcept {
    const auto left = static_cast<const latch*>(copy)->m_left.load(std::memory_order_relaxed);
    detail::say(into, left == 1 ? "%td count is missing" : "%td counts are missing", left);
}

}  // namespace quern
