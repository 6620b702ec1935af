// SPDX-License-Identifier: BSL-1.0
// Waiting for a notice and giving one; the protocol is in notices.hpp.
#include <quern/sync/condition_variable.hpp>

#include <quern/base/assert.hpp>

namespace quern {

void condition_variable::wait(std::unique_lock<mutex>& lock) noexcept {
    const std::uintptr_t me = detail::this_holder();
    QUERN_ASSERT(lock.owns_lock() && lock.mutex()->m_owner.owned_by(me),
                 "condition_variable::wait is called without holding the lock");
    detail::notice_waiter self(me, lock.mutex()->m_owner);
    detail::wait_in(self, {}, [this, &self] {
        detail::waiter* const heir = m_notices.enqueue(self);
        if (heir != nullptr) {
            heir->wake();
        }
        return true;
    });
}

void condition_variable::notify_first() noexcept {
    detail::notice_waiter* const first = m_notices.take_first();
    if (first != nullptr && detail::notice_board::pass_on(*first)) {
        first->wake();
    }
}

void condition_variable::notify_each() noexcept {
    detail::notice_waiter* first = m_notices.take_all();
    while (first != nullptr) {
        auto* const next = static_cast<detail::notice_waiter*>(first->next);
        if (detail::notice_board::pass_on(*first)) {
            first->wake();
        }
        first = next;
    }
}

}  // namespace quern
