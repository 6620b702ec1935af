// SPDX-License-Identifier: BSL-1.0
// The slow path of the mutexes: spin a little, then queue up.
#include <quern/sync/mutex.hpp>

#include <system_error>

namespace quern {

namespace {

/// Looks at a mutex whose holder may be about to unlock it, before the caller suspends: about the
/// cost of a suspension and a resumption (guessed).
constexpr int k_spins = 20;

}  // namespace

void detail::take_or_wait(task_ownership& wanted, std::uintptr_t me) noexcept {
    // Behind others there is nothing to spin for: they come first.
    for (int i = 0; i < k_spins && !wanted.looks_awaited(); ++i) {
        if (wanted.looks_free() && wanted.try_take(me)) {
            return;
        }
        std_atomics::pause();
    }
    waiter self(me);
    wait_in(self, {}, [&wanted, &self] { return wanted.enqueue(self); });
}

void mutex::lock_contended(std::uintptr_t me) {
    if (m_owner.owned_by(me)) {
        throw std::system_error(std::make_error_code(std::errc::resource_deadlock_would_occur),
                                "quern::mutex: locked again by its holder");
    }
    detail::take_or_wait(m_owner, me);
}

}  // namespace quern
