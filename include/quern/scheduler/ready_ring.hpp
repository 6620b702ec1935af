// SPDX-License-Identifier: BSL-1.0
// A locked queue of ready items with two ends, for the policies other than the default: own items
// are taken from either end, thieves take several of the oldest at once. Shared by all workers of
// a NUMA node under sherwood, one worker's own under the priority-local policies.
#pragma once

#include <quern/base/cache_line.hpp>
#include <quern/base/spin_lock.hpp>
#include <quern/scheduler/work.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

namespace quern::detail {

/// Pushing allocates when there is no room; the room is kept. Thread safe.
class alignas(k_cache_line) ready_ring {
public:
    void push(runnable& item) {
        const std::scoped_lock lock(m_lock);
        make_room();
        slot(m_count++) = &item;
        grow_by(1);
    }

    /// Puts the item where pop_oldest() takes next.
    void push_oldest(runnable& item) {
        const std::scoped_lock lock(m_lock);
        make_room();
        --m_first;
        ++m_count;
        slot(0) = &item;
        grow_by(1);
    }

    runnable* pop_youngest() noexcept { return pop_youngest_if(nullptr); }

    /// The youngest if it is this one (or any, for null), else null.
    runnable* pop_youngest_if(const runnable* wanted) noexcept {
        if (empty()) {
            return nullptr;
        }
        const std::scoped_lock lock(m_lock);
        if (m_count == 0 || (wanted != nullptr && slot(m_count - 1) != wanted)) {
            return nullptr;
        }
        grow_by(-1);
        return slot(--m_count);
    }

    runnable* pop_oldest() noexcept { return take_oldest(1); }

    /// The oldest if it is this one, else null.
    runnable* pop_oldest_if(const runnable& wanted) noexcept {
        if (empty()) {
            return nullptr;
        }
        const std::scoped_lock lock(m_lock);
        if (m_count == 0 || slot(0) != &wanted) {
            return nullptr;
        }
        grow_by(-1);
        runnable* const oldest = slot(0);
        ++m_first;
        --m_count;
        return oldest;
    }

    /// The oldest items, at most so many, linked from the oldest to the youngest; 0: half of them,
    /// rounded up. Null when there are none.
    runnable* take_oldest(std::size_t most) noexcept {
        if (empty()) {
            return nullptr;
        }
        const std::scoped_lock lock(m_lock);
        const std::size_t taken = most == 0 ? (m_count + 1) / 2 : std::min(most, m_count);
        runnable* chain = nullptr;
        for (std::size_t i = taken; i-- > 0;) {
            slot(i)->next = chain;
            chain = slot(i);
        }
        m_first += taken;
        m_count -= taken;
        grow_by(-static_cast<std::ptrdiff_t>(taken));
        return chain;
    }

    /// seq_cst: read by a worker that has announced that it will sleep.
    bool empty() const noexcept { return m_size.load(std::memory_order_seq_cst) == 0; }
    /// What it was a moment ago. Any thread.
    std::size_t size() const noexcept {
        return static_cast<std::size_t>(m_size.load(std::memory_order_relaxed));
    }

private:
    static constexpr std::size_t k_first_room = 64;  // items (guessed)

    /// Invariant: the room is a power of two, so indices may wrap round.
    runnable*& slot(std::size_t index) noexcept {
        return m_slots[(m_first + index) & (m_slots.size() - 1)];
    }

    void make_room() {
        if (m_count == m_slots.size()) {
            std::vector<runnable*> larger(std::max(k_first_room, 2 * m_count));
            for (std::size_t i = 0; i < m_count; ++i) {
                larger[i] = slot(i);
            }
            m_slots.swap(larger);
            m_first = 0;
        }
    }

    /// seq_cst read-modify-write: ordered before the pusher's look at who sleeps.
    void grow_by(std::ptrdiff_t n) noexcept { m_size.fetch_add(n, std::memory_order_seq_cst); }

    spin_lock m_lock;
    std::size_t m_first = 0;
    std::size_t m_count = 0;
    std::vector<runnable*> m_slots;
    std::atomic<std::ptrdiff_t> m_size{0};  ///< m_count, for those without the lock
};

}  // namespace quern::detail
