// SPDX-License-Identifier: BSL-1.0
// Waits at an event per waiter, and notifies. A notifier is done with the condition variable before
// it sets that event.
#include <quern/sync/condition_variable_any.hpp>

namespace quern {

namespace {

constexpr detail::wait_kind k_any_notice_wait{"a notice of a condition_variable_any"};

}  // namespace

void condition_variable_any::refuse_entries(const entry& first) noexcept {
    for (const entry* each = &first; each != nullptr; each = each->next) {
        detail::refuse_if_awaited(each->notified.m_gate.waiters(), "a condition_variable_any");
    }
}

void condition_variable_any::wait_for_notice(const entry& self) noexcept {
    self.notified.wait_as({&k_any_notice_wait, this});
}

bool condition_variable_any::wait_for_notice_until(
    const entry& self, detail::timer::clock::time_point deadline) noexcept {
    return self.notified.wait_as_until({&k_any_notice_wait, this}, deadline);
}

void condition_variable_any::notify_first() noexcept {
    if (entry* const first = m_waiting.take_first()) {
        first->notified.set();
    }
}

void condition_variable_any::notify_each() noexcept {
    entry* first = m_waiting.take_all();
    while (first != nullptr) {
        entry* const next = first->next;  // may be destroyed once it is notified
        first->notified.set();
        first = next;
    }
}

}  // namespace quern
