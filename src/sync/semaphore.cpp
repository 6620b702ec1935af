// SPDX-License-Identifier: BSL-1.0
// The semaphore: limits, waiting for a permit, and waking those who got one.
#include <quern/sync/semaphore.hpp>

#include <quern/base/assert.hpp>

#include <stdexcept>
#include <string>

namespace quern::detail {

semaphore_base::semaphore_base(std::ptrdiff_t count, std::ptrdiff_t max) : m_permits(count) {
    if (count < 0 || count > max) {
        throw std::invalid_argument("quern::counting_semaphore: the count is " +
                                    std::to_string(count) + ", accepted are 0 to " +
                                    std::to_string(max));
    }
}

void semaphore_base::release(std::ptrdiff_t n, std::ptrdiff_t max) noexcept {
    QUERN_ASSERT(n >= 0 && n <= max, "counting_semaphore::release of a number not in 0..max()");
    const auto [before, heirs] = m_permits.give(n);
    QUERN_ASSERT(before <= max - n, "a semaphore is released above its maximum");
    wake_all(heirs);
}

void semaphore_base::wait_for_permit() noexcept {
    waiter self;
    wait_in(self, {}, [this, &self] { return m_permits.enqueue(self); });
}

}  // namespace quern::detail
