// SPDX-License-Identifier: BSL-1.0
// Items that have become ready together: they are queued with one read of the number of sleepers
// and one wake-up.
#pragma once

#include <quern/scheduler/work.hpp>

#include <cstddef>
#include <utility>

namespace quern::detail {

/// In the order in which they should begin, if the policy keeps an order. Linked through the items;
/// destroying the batch loses its items.
class ready_batch {
public:
    /// The item must not be in any queue.
    void add(runnable& item) noexcept {
        item.next = nullptr;
        (m_first != nullptr ? m_last->next : m_first) = &item;
        m_last = &item;
        ++m_size;
    }

    bool empty() const noexcept { return m_first == nullptr; }
    std::size_t size() const noexcept { return m_size; }
    runnable* first() const noexcept { return m_first; }
    /// Requires: not empty.
    runnable* last() const noexcept { return m_last; }

    /// Requires: not empty.
    runnable& take_first() noexcept {
        runnable& item = *std::exchange(m_first, m_first->next);
        --m_size;
        return item;
    }

    void reverse() noexcept {
        runnable* reversed = nullptr;
        m_last = m_first;
        for (runnable* item = m_first; item != nullptr;) {
            runnable* const after = std::exchange(item->next, reversed);
            reversed = std::exchange(item, after);
        }
        m_first = reversed;
    }

private:
    runnable* m_first = nullptr;
    runnable* m_last = nullptr;  ///< valid when m_first is set
    std::size_t m_size = 0;
};

}  // namespace quern::detail
