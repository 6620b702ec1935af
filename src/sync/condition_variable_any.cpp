// SPDX-License-Identifier: BSL-1.0
// The queue of a condition variable for any lock. A notifier has done with the condition variable
// before it sets the event of one that waits.
#include <quern/sync/condition_variable_any.hpp>

namespace quern {

void condition_variable_any::enqueue(entry& self) noexcept {
    const std::scoped_lock guard(m_lock);
    m_queue.push(self);
}

void condition_variable_any::notify_first() noexcept {
    entry* first = nullptr;
    {
        const std::scoped_lock guard(m_lock);
        first = m_queue.looks_empty() ? nullptr : &m_queue.pop();
    }
    if (first != nullptr) {
        first->notified.set();
    }
}

void condition_variable_any::notify_each() noexcept {
    entry* first = nullptr;
    {
        const std::scoped_lock guard(m_lock);
        first = m_queue.take_all();
    }
    while (first != nullptr) {
        entry* const next = first->next;  // it may be gone when it has been notified
        first->notified.set();
        first = next;
    }
}

}  // namespace quern
