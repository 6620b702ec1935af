// SPDX-License-Identifier: BSL-1.0
// Turns at a cell: who may begin, and to whom a turn is handed over.
#include <quern/sync/turns.hpp>

#include <mutex>

#include "words.hpp"

namespace quern::detail {

/// Under the spin lock.
bool turns::try_begin(cell_state wanted) noexcept {
    const bool fits = wanted == cell_state::either || (wanted == cell_state::full) == m_full;
    if (m_busy || !fits) {
        return false;
    }
    m_busy = true;
    return true;
}

bool turns::enqueue(request& self) noexcept {
    const std::scoped_lock guard(m_lock);
    if (try_begin(self.wanted)) {
        return false;
    }
    self.number = ++m_last_number;
    queue_of(self.wanted).push(self);
    return true;
}

bool turns::begin_at_once(cell_state wanted) noexcept {
    const std::scoped_lock guard(m_lock);
    return try_begin(wanted);
}

bool turns::begin(cell_state wanted) noexcept {
    if (begin_at_once(wanted)) {
        return m_full;  // nobody changes it during a turn
    }
    request self(wanted);
    wait_in(self, reason(wanted), [this, &self] { return enqueue(self); });
    return m_full;
}

/// Takes out the one whose turn it is now, or returns null. Under the spin lock.
turns::request* turns::next() noexcept {
    request_queue* first = &queue_of(m_full ? cell_state::full : cell_state::empty);
    request_queue* const either = &queue_of(cell_state::either);
    if (first->looks_empty() ||
        (!either->looks_empty() && either->front()->number < first->front()->number)) {
        first = either;
    }
    return first->looks_empty() ? nullptr : &first->pop();
}

void turns::end(bool full) noexcept {
    request* heir = nullptr;
    {
        const std::scoped_lock guard(m_lock);
        m_full = full;
        heir = next();
        m_busy = heir != nullptr;
    }
    if (heir != nullptr) {
        heir->wake();
    }
}

bool turns::is_full() const noexcept {
    const std::scoped_lock guard(m_lock);
    return m_full;
}

constexpr std::array<wait_kind, 3> turns::k_waits{{
    {"full_empty, to be empty", sizeof(turns), look},
    {"full_empty, to be full", sizeof(turns), look},
    {"full_empty, for a turn", sizeof(turns), look},
}};

void turns::look(const void* copy, wait_findings& into) noexcept {
    const auto& t = *static_cast<const turns*>(copy);
    say(into, "it is %s%s", t.m_full ? "full" : "empty", t.m_busy ? " and in use" : "");
}

}  // namespace quern::detail
