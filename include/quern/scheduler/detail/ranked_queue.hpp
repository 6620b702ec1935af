// SPDX-License-Identifier: BSL-1.0
// A locked queue of ready items in the order of urgency and rank, the oldest first within a rank. A
// worker has two: of items with a rank, and of hinted items that are not of normal priority and
// rank 0. One list per rank, found by three levels of bits: the cost does not depend on how many
// items there are.
#pragma once

#include <quern/base/detail/cache_line.hpp>
#include <quern/base/detail/spin_lock.hpp>
#include <quern/scheduler/detail/ready_batch.hpp>
#include <quern/scheduler/ready_item.hpp>
#include <quern/scheduler/work.hpp>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace quern::detail {

/// The place of an item in the order of all: the larger one is taken first.
using order_key = std::int32_t;

inline constexpr order_key k_ranks = 1 << 16;  ///< of one urgency
inline constexpr order_key k_keys = 3 * k_ranks;
inline constexpr order_key k_no_key = -1;  ///< below all others

constexpr order_key key_of(priority urgency, std::int32_t rank = 0) noexcept {
    return static_cast<order_key>(urgency) * k_ranks + rank + k_ranks / 2;
}
constexpr order_key key_of(const lasting_attributes& item) noexcept {
    return detail::key_of(item.urgency, item.rank);
}
/// Above all keys of low urgency, below all others; and the same of normal urgency.
inline constexpr order_key k_above_low = k_ranks - 1;
inline constexpr order_key k_above_normal = 2 * k_ranks - 1;

/// A set of numbers below 64 * Words.
template <std::size_t Words>
class number_set {
public:
    void insert(std::size_t n) noexcept { m_words[n / 64] |= bit(n); }
    void erase(std::size_t n) noexcept { m_words[n / 64] &= ~bit(n); }

    /// The largest member below the limit, or -1.
    int last_below(std::size_t limit) const noexcept {
        std::size_t word = limit / 64;
        std::uint64_t bits = limit % 64 != 0 ? m_words[word] & (bit(limit) - 1) : 0;
        while (bits == 0) {
            if (word == 0) {
                return -1;
            }
            bits = m_words[--word];
        }
        return static_cast<int>(64 * word) + 63 - std::countl_zero(bits);
    }

private:
    static constexpr std::uint64_t bit(std::size_t n) noexcept {
        return std::uint64_t{1} << n % 64;
    }
    std::array<std::uint64_t, Words> m_words{};
};

/// Items by key. Not thread safe. Allocates 7 KiB with the first item, and 2 KiB with the first one
/// of each 256 neighbouring ranks, and keeps them.
class items_by_key {
public:
    /// The largest key below the limit of which there are items, or k_no_key.
    order_key last_below(order_key limit) const noexcept {
        if (m_table == nullptr) {
            return k_no_key;
        }
        const auto at = static_cast<std::size_t>(limit);
        if (at % k_page != 0 && m_table->pages[at / k_page] != nullptr) {
            const int found = m_table->pages[at / k_page]->used.last_below(at % k_page);
            if (found >= 0) {
                return limit - limit % static_cast<order_key>(k_page) + found;
            }
        }
        const int before = m_table->used.last_below(at / k_page);
        if (before < 0) {
            return k_no_key;
        }
        const page& of = *m_table->pages[static_cast<std::size_t>(before)];
        return before * static_cast<order_key>(k_page) + of.used.last_below(k_page);
    }

    void add(order_key key, runnable& item) {
        const auto at = static_cast<std::size_t>(key);
        if (m_table == nullptr) {
            m_table = std::make_unique<table>();
        }
        std::unique_ptr<page>& of = m_table->pages[at / k_page];
        if (of == nullptr) {
            of = std::make_unique<page>();
        }
        runnable*& last = of->last[at % k_page];
        item.next = last != nullptr ? std::exchange(last->next, &item) : &item;
        last = &item;
        of->used.insert(at % k_page);
        m_table->used.insert(at / k_page);
    }

    /// The oldest item of that key. Requires one.
    runnable& take(order_key key) noexcept {
        const auto at = static_cast<std::size_t>(key);
        page& of = *m_table->pages[at / k_page];
        runnable*& last = of.last[at % k_page];
        runnable& first = *last->next;
        if (&first != last) {
            last->next = first.next;
            return first;
        }
        last = nullptr;
        of.used.erase(at % k_page);
        if (of.used.last_below(k_page) < 0) {
            m_table->used.erase(at / k_page);
        }
        return first;
    }

private:
    static constexpr std::size_t k_page = 256;

    struct page {
        number_set<k_page / 64> used;
        std::array<runnable*, k_page> last{};  ///< of a ring through `next`: the oldest follows it
    };
    struct table {
        number_set<k_keys / k_page / 64> used;  ///< pages with items
        std::array<std::unique_ptr<page>, k_keys / k_page> pages;
    };
    std::unique_ptr<table> m_table;
};

/// Thread safe. An allocation that fails in push() ends the program.
class alignas(k_cache_line) ranked_queue {
public:
    void push(runnable& item) noexcept {
        const std::scoped_lock lock(m_lock);
        add(item);
    }
    void push(ready_batch& items) noexcept {
        const std::scoped_lock lock(m_lock);
        while (!items.empty()) {
            add(items.take_first());
        }
    }

    /// The key of the item that pop() would give, or k_no_key; what it was a moment ago. A look at
    /// another worker's queue that is not worth the lock.
    order_key best() const noexcept { return m_best.load(std::memory_order_relaxed); }

    /// The oldest of the largest key if that is above the floor, or null.
    runnable* pop_above(order_key floor) noexcept {
        if (best() <= floor) {
            return nullptr;
        }
        const std::scoped_lock lock(m_lock);
        return best() > floor ? &take(best()) : nullptr;
    }

    /// The same, several in their order; at most so many.
    ready_list pop_several_above(order_key floor, std::size_t most) noexcept {
        ready_list taken;
        const std::scoped_lock lock(m_lock);
        while (best() > floor && taken.size() < most) {
            taken.push_back(ready_item(&take(best())));
        }
        return taken;
    }

    /// The oldest of the next key below that of the last call, and of the largest after the
    /// smallest: so each key has its turn, whatever is pushed. Or null.
    runnable* pop_in_turn() noexcept {
        if (best() == k_no_key) {
            return nullptr;
        }
        const std::scoped_lock lock(m_lock);
        const order_key below = m_items.last_below(m_turn);
        m_turn = below != k_no_key ? below : best();
        if (m_turn != k_no_key) {
            return &take(m_turn);
        }
        m_turn = 0;
        return nullptr;
    }

    /// Takes out all entries that are empty, linked: their tasks have been begun elsewhere.
    runnable* take_empty() noexcept {
        const std::scoped_lock lock(m_lock);
        runnable* empty = nullptr;
        ready_batch others;
        for (order_key key = best(); key != k_no_key; key = m_items.last_below(key + 1)) {
            runnable& item = m_items.take(key);
            if (item.begun.load(std::memory_order_relaxed)) {
                item.next = std::exchange(empty, &item);
            } else {
                others.add(item);
            }
        }
        m_size.store(others.size(), std::memory_order_relaxed);
        while (!others.empty()) {
            runnable& item = others.take_first();
            m_items.add(detail::key_of(item), item);
        }
        m_best.store(m_items.last_below(k_keys), std::memory_order_relaxed);
        return empty;
    }

    /// seq_cst: read by a worker that has announced that it will sleep.
    bool empty() const noexcept { return m_best.load(std::memory_order_seq_cst) == k_no_key; }
    std::size_t size() const noexcept { return m_size.load(std::memory_order_relaxed); }

private:
    void add(runnable& item) noexcept {
        const order_key key = detail::key_of(item);
        m_items.add(key, item);
        m_size.store(size() + 1, std::memory_order_relaxed);
        if (key > best()) {
            // seq_cst: ordered before the pusher's look at who sleeps. Where it is not written, an
            // earlier push has written it, which precedes this one by the lock.
            m_best.store(key, std::memory_order_seq_cst);
        }
    }
    runnable& take(order_key key) noexcept {
        runnable& item = m_items.take(key);
        m_size.store(size() - 1, std::memory_order_relaxed);
        if (key == best()) {
            m_best.store(m_items.last_below(key + 1), std::memory_order_relaxed);
        }
        return item;
    }

    spin_lock m_lock;
    std::atomic<order_key> m_best{k_no_key};  ///< changed under the lock
    order_key m_turn = 0;                     ///< that pop_in_turn() gave last
    std::atomic<std::size_t> m_size{0};       ///< for reports; changed under the lock
    items_by_key m_items;
};

}  // namespace quern::detail
