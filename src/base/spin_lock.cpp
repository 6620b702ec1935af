// SPDX-License-Identifier: BSL-1.0
// The spin lock under contention: exponential back-off.
#include <quern/base/detail/spin_lock.hpp>

#include <algorithm>

namespace quern::detail {

namespace {

/// About 3 us; then the operating system is asked after each check.
constexpr int k_most_pauses = 64;

}  // namespace

void spin_lock::wait_and_lock(int pauses) noexcept {
    int spins = 0;
    do {
        for (int i = 1; i < pauses; ++i) {
            std_atomics::pause();
        }
        spins += pauses - 1;
        std_atomics::back_off(spins);  // the last pause, or a yield
        pauses = std::min(2 * pauses, k_most_pauses);
    } while (m_held.load(std::memory_order_relaxed) ||
             m_held.exchange(true, std::memory_order_acquire));  // pairs with unlock
}

}  // namespace quern::detail
