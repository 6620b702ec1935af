// SPDX-License-Identifier: BSL-1.0
// A locked queue of ready items with two ends, for the non-default policies: its workers take items
// from either end, thieves take several of the oldest at once. Under sherwood all workers of a NUMA
// node share one; under the priority-local policies each worker has its own.
#pragma once

#include <quern/base/detail/cache_line.hpp>
#include <quern/base/detail/spin_lock.hpp>
#include <quern/scheduler/ready_item.hpp>
#include <quern/scheduler/work.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace quern::detail {

/// Pushing allocates when the array is full; the memory is kept. Thread safe.
class alignas(k_cache_line) ready_ring {
public:
    void push(runnable& item) {
        const std::scoped_lock lock(m_lock);
        make_room();
        put(m_end++, item);
    }

    /// Puts the item where pop_oldest() takes next.
    void push_oldest(runnable& item) {
        const std::scoped_lock lock(m_lock);
        make_room();
        put(--m_first, item);
    }

    runnable* pop_youngest() noexcept {
        if (empty()) {
            return nullptr;
        }
        const std::scoped_lock lock(m_lock);
        if (m_first == m_end) {
            return nullptr;
        }
        runnable* const youngest = slot(--m_end);
        grow_by(-1);
        trim();
        return youngest;
    }

    runnable* pop_oldest() noexcept {
        if (empty()) {
            return nullptr;
        }
        const std::scoped_lock lock(m_lock);
        if (m_first == m_end) {
            return nullptr;
        }
        runnable* const oldest = slot(m_first++);
        grow_by(-1);
        trim();
        return oldest;
    }

    /// Removes the item from any position. False: it is not here.
    bool remove(const runnable& item) noexcept {
        if (empty()) {
            return false;
        }
        const std::scoped_lock lock(m_lock);
        const std::uint32_t at = item.position.load(std::memory_order_relaxed);
        if (at - m_first >= m_end - m_first || slot(at) != &item) {
            return false;
        }
        slot(at) = nullptr;
        ++m_holes;
        grow_by(-1);
        trim();
        if (m_holes >= k_first_room && 2 * m_holes > m_end - m_first) {
            close_holes();
        }
        return true;
    }

    /// At most `most` of the oldest items, oldest first; 0: half of them, rounded up.
    ready_list take_oldest(std::size_t most) noexcept {
        ready_list oldest;
        if (empty()) {
            return oldest;
        }
        const std::scoped_lock lock(m_lock);
        const std::size_t count = m_end - m_first - m_holes;
        const std::size_t taken = most == 0 ? (count + 1) / 2 : std::min(most, count);
        while (oldest.size() < taken) {
            oldest.push_back(ready_item(slot(m_first++)));
            trim();
        }
        grow_by(-static_cast<std::ptrdiff_t>(taken));
        return oldest;
    }

    /// seq_cst: read by a worker that has announced that it will sleep.
    bool empty() const noexcept { return m_size.load(std::memory_order_seq_cst) == 0; }
    /// Any thread. Already out of date.
    std::size_t size() const noexcept {
        return static_cast<std::size_t>(m_size.load(std::memory_order_relaxed));
    }

private:
    static constexpr std::uint32_t k_first_room = 64;  // items (guessed)

    /// Invariant: the size is a power of two, so indices may wrap round.
    runnable*& slot(std::uint32_t index) noexcept { return m_slots[index & (m_slots.size() - 1)]; }

    void put(std::uint32_t at, runnable& item) noexcept {
        item.position.store(at, std::memory_order_relaxed);
        slot(at) = &item;
        grow_by(1);
    }

    /// Invariant: there is no hole at either end.
    void trim() noexcept {
        while (m_first != m_end && slot(m_first) == nullptr) {
            ++m_first;
            --m_holes;
        }
        while (m_first != m_end && slot(m_end - 1) == nullptr) {
            --m_end;
            --m_holes;
        }
    }

    void make_room() {
        if (m_end - m_first == m_slots.size()) {
            m_slots.size() == 0 ? m_slots.resize(k_first_room) : grow();
        }
    }

    void grow() {
        std::vector<runnable*> larger(2 * m_slots.size());
        for (std::uint32_t i = m_first; i != m_end; ++i) {
            larger[i & (larger.size() - 1)] = slot(i);
        }
        m_slots.swap(larger);
    }

    void close_holes() noexcept {
        std::uint32_t to = m_first;
        for (std::uint32_t i = m_first; i != m_end; ++i) {
            if (runnable* const item = slot(i)) {
                item->position.store(to, std::memory_order_relaxed);
                slot(to++) = item;
            }
        }
        m_end = to;
        m_holes = 0;
    }

    /// seq_cst read-modify-write: ordered before the pusher's read of the number of sleepers.
    void grow_by(std::ptrdiff_t n) noexcept { m_size.fetch_add(n, std::memory_order_seq_cst); }

    spin_lock m_lock;
    std::uint32_t m_first = 0;
    std::uint32_t m_end = 0;
    std::uint32_t m_holes = 0;  ///< removed entries between the ends
    std::vector<runnable*> m_slots;
    std::atomic<std::ptrdiff_t> m_size{0};  ///< items, for readers without the lock
};

}  // namespace quern::detail
