// SPDX-License-Identifier: BSL-1.0
// The cell lock: admission and hand-over.
#include <quern/sync/detail/cell_lock.hpp>

#include <mutex>

#include "timed_waiting.hpp"
#include "words.hpp"

namespace quern::detail {

/// Under the spin lock.
bool cell_lock::try_begin(cell_state wanted) noexcept {
    const bool fits = wanted == cell_state::either || (wanted == cell_state::full) == m_full;
    if (m_busy || !fits) {
        return false;
    }
    m_busy = true;
    return true;
}

bool cell_lock::enqueue(request& self) noexcept {
    const std::scoped_lock guard(m_lock);
    if (try_begin(self.wanted)) {
        return false;
    }
    if (self.late) {
        self.expired = true;
        return false;
    }
    self.number = ++m_last_number;
    queue_of(self.wanted).push(self);
    return true;
}

bool cell_lock::begin_at_once(cell_state wanted) noexcept {
    const std::scoped_lock guard(m_lock);
    return try_begin(wanted);
}

bool cell_lock::begin(cell_state wanted) noexcept {
    if (begin_at_once(wanted)) {
        return m_full;  // constant while the cell is locked
    }
    request self(wanted);
    wait_in(self, reason(wanted), [this, &self] { return enqueue(self); });
    return m_full;
}

bool cell_lock::withdraw(request& self) noexcept {
    const std::scoped_lock guard(m_lock);
    return queue_of(self.wanted).withdraw(self);
}

bool cell_lock::begin_until(cell_state wanted, const std::stop_token& stop) noexcept {
    if (begin_at_once(wanted)) {
        return true;
    }
    request self(wanted);
    return wait_in_until(
        self, reason(wanted), stop, [this, &self] { return enqueue(self); },
        [this, &self] { return withdraw(self) && wake_expired(self); });
}

/// Takes out the next owner, or returns null. Under the spin lock.
cell_lock::request* cell_lock::next() noexcept {
    request_queue* first = &queue_of(m_full ? cell_state::full : cell_state::empty);
    request_queue* const either = &queue_of(cell_state::either);
    if (first->looks_empty() ||
        (!either->looks_empty() && either->front()->number < first->front()->number)) {
        first = either;
    }
    return first->looks_empty() ? nullptr : &first->pop();
}

void cell_lock::end(bool full) noexcept {
    request* next_owner = nullptr;
    {
        const std::scoped_lock guard(m_lock);
        m_full = full;
        next_owner = next();
        m_busy = next_owner != nullptr;
    }
    if (next_owner != nullptr) {
        next_owner->wake();
    }
}

bool cell_lock::is_full() const noexcept {
    const std::scoped_lock guard(m_lock);
    return m_full;
}

constexpr std::array<wait_kind, 3> cell_lock::k_waits{{
    {"full_empty, to be empty", sizeof(cell_lock), look},
    {"full_empty, to be full", sizeof(cell_lock), look},
    {"full_empty, for a turn", sizeof(cell_lock), look},
}};

void cell_lock::look(const void* copy, wait_findings& into) noexcept {
    const auto& t = *static_cast<const cell_lock*>(copy);
    say(into, "it is %s%s", t.m_full ? "full" : "empty", t.m_busy ? " and in use" : "");
}

}  // namespace quern::detail
