// SPDX-License-Identifier: BSL-1.0
// A locked queue of ready items, linked through the items, so pushing does not allocate. For
// everything outside the default policy's hot path: work from outside, hinted work, priorities, and
// the queues of the FIFO policies.
#pragma once

#include <quern/base/detail/cache_line.hpp>
#include <quern/base/detail/spin_lock.hpp>
#include <quern/scheduler/detail/ready_batch.hpp>
#include <quern/scheduler/work.hpp>

#include <atomic>
#include <cstddef>
#include <mutex>

namespace quern::detail {

class alignas(k_cache_line) ready_queue {
public:
    void push(runnable& item) noexcept {
        const std::scoped_lock lock(m_lock);
        item.next = nullptr;
        (m_first != nullptr ? m_last->next : m_first) = &item;
        m_last = &item;
        grow_by(1);
    }

    void push(ready_batch& items) noexcept {
        if (items.empty()) {
            return;
        }
        const std::scoped_lock lock(m_lock);
        (m_first != nullptr ? m_last->next : m_first) = items.first();
        m_last = items.last();
        grow_by(static_cast<std::ptrdiff_t>(items.size()));
        items = {};
    }

    /// Puts the item where pop() takes next.
    void push_front(runnable& item) noexcept {
        const std::scoped_lock lock(m_lock);
        item.next = m_first;
        m_last = m_first != nullptr ? m_last : &item;
        m_first = &item;
        grow_by(1);
    }

    /// The oldest item (the youngest of those pushed to the front), or null.
    runnable* pop() noexcept { return pop_if(nullptr); }

    /// The same if it is `wanted` (any item, for null), else null.
    runnable* pop_if(const runnable* wanted) noexcept {
        if (m_size.load(std::memory_order_seq_cst) == 0) {
            return nullptr;
        }
        const std::scoped_lock lock(m_lock);
        runnable* item = wanted == nullptr || m_first == wanted ? m_first : nullptr;
        if (item != nullptr) {
            m_first = item->next;
            m_last = m_first != nullptr ? m_last : nullptr;
            grow_by(-1);
        }
        return item;
    }

    /// Removes all empty entries, whose tasks have been begun elsewhere, and returns them linked.
    runnable* take_empty() noexcept {
        const std::scoped_lock lock(m_lock);
        runnable* taken = nullptr;
        runnable* kept_last = nullptr;
        std::ptrdiff_t count = 0;
        for (runnable** link = &m_first; *link != nullptr;) {
            runnable& item = **link;
            if (item.begun.load(std::memory_order_relaxed)) {
                *link = item.next;
                item.next = taken;
                taken = &item;
                ++count;
            } else {
                kept_last = &item;
                link = &item.next;
            }
        }
        m_last = kept_last;
        grow_by(-count);
        return taken;
    }

    /// seq_cst: read by a worker that has announced that it will sleep.
    bool empty() const noexcept { return m_size.load(std::memory_order_seq_cst) == 0; }
    std::size_t size() const noexcept {
        return static_cast<std::size_t>(m_size.load(std::memory_order_relaxed));
    }

private:
    /// seq_cst read-modify-write: ordered before the pusher's read of the number of sleepers.
    void grow_by(std::ptrdiff_t n) noexcept { m_size.fetch_add(n, std::memory_order_seq_cst); }

    spin_lock m_lock;
    runnable* m_first = nullptr;
    runnable* m_last = nullptr;
    std::atomic<std::ptrdiff_t> m_size{0};
};

}  // namespace quern::detail
