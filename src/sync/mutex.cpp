// SPDX-License-Identifier: BSL-1.0
// The slow path of the mutex: spin a little, then queue up.
#include <quern/sync/mutex.hpp>

#include <system_error>

namespace quern {

namespace {

/// Looks at a mutex whose holder may be about to unlock it, before the caller suspends: about the
/// cost of a suspension and a resumption (guessed).
constexpr int k_spins = 20;

}  // namespace

void mutex::lock_contended(std::uintptr_t me) {
    if (m_owner.owned_by(me)) {
        throw std::system_error(std::make_error_code(std::errc::resource_deadlock_would_occur),
                                "quern::mutex: locked again by its holder");
    }
    // Behind others there is nothing to spin for: they come first.
    for (int i = 0; i < k_spins && !m_owner.looks_awaited(); ++i) {
        if (m_owner.looks_free() && m_owner.try_take(me)) {
            return;
        }
        detail::std_atomics::pause();
    }
    detail::waiter self(me);
    detail::wait_in(self, [this, &self] { return m_owner.enqueue(self); });
}

}  // namespace quern
