// SPDX-License-Identifier: BSL-1.0
// A locked queue of ready items in the order of urgency and rank, the oldest first within a rank. A
// worker has two: of items with a rank or priority, and of items that are for it. One list per
// rank, found by three levels of bits: the cost does not depend on how many items there are.
#pragma once

#include <quern/base/detail/cache_line.hpp>
#include <quern/base/detail/spin_lock.hpp>
#include <quern/scheduler/detail/ready_batch.hpp>
#include <quern/scheduler/ready_item.hpp>
#include <quern/scheduler/work.hpp>

#include <algorithm>
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
/// Below the key of an item without a rank, above all ranks below 0.
inline constexpr order_key k_below_normal = key_of(priority::normal) - 1;

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

/// A ring of items through their links: the last one is followed by the first.
class item_ring {
public:
    bool empty() const noexcept { return m_last == nullptr; }
    bool is_first(const runnable& item) const noexcept {
        return m_last != nullptr && m_last->next == &item;
    }
    void push(runnable& item) noexcept {
        push_first(item);
        m_last = &item;
    }
    /// Before all others.
    void push_first(runnable& item) noexcept {
        if (m_last != nullptr) {
            item.next = std::exchange(m_last->next, &item);
        } else {
            item.next = m_last = &item;
        }
    }
    /// The first. Requires one.
    runnable& pop() noexcept {
        runnable& first = *m_last->next;
        if (&first == m_last) {
            m_last = nullptr;
        } else {
            m_last->next = first.next;
        }
        return first;
    }

private:
    runnable* m_last = nullptr;
};

/// Items by key. Not thread safe. Allocates 7 KiB with the first item whose key is not that of most
/// items, normal priority and rank 0, and 2 KiB with the first one of each 256 neighbouring ranks,
/// and keeps them.
class items_by_key {
public:
    static constexpr order_key k_usual = key_of(priority::normal);

    /// The largest key below the limit of which there are items, or k_no_key.
    order_key last_below(order_key limit) const noexcept {
        const order_key usual = !m_usual.empty() && k_usual < limit ? k_usual : k_no_key;
        return m_table == nullptr ? usual : std::max(usual, m_table->last_below(limit));
    }

    bool has(order_key key) const noexcept { return last_below(key + 1) == key; }
    /// Whether the item is the next one of its key. Requires that there are items of that key.
    bool is_first(order_key key, const runnable& item) noexcept {
        return (key == k_usual ? m_usual : m_table->of(key)).is_first(item);
    }

    /// The ring of that key, to which the caller adds an item.
    item_ring& grow(order_key key) {
        if (key == k_usual) {
            return m_usual;
        }
        if (m_table == nullptr) {
            m_table = std::make_unique<table>();
        }
        return m_table->grow(key);
    }

    /// The oldest item of that key. Requires one.
    runnable& take(order_key key) noexcept {
        return key == k_usual ? m_usual.pop() : m_table->take(key);
    }

private:
    static constexpr std::size_t k_page = 256;

    struct page {
        number_set<k_page / 64> used;
        std::array<item_ring, k_page> rings;
    };
    struct table {
        order_key last_below(order_key limit) const noexcept;
        item_ring& of(order_key key) const noexcept {
            const auto at = static_cast<std::size_t>(key);
            return pages[at / k_page]->rings[at % k_page];
        }
        item_ring& grow(order_key key);
        runnable& take(order_key key) noexcept;

        number_set<k_keys / k_page / 64> used;  ///< pages with items
        std::array<std::unique_ptr<page>, k_keys / k_page> pages;
    };

    item_ring m_usual;
    std::unique_ptr<table> m_table;
};

inline order_key items_by_key::table::last_below(order_key limit) const noexcept {
    const auto at = static_cast<std::size_t>(limit);
    if (at % k_page != 0 && pages[at / k_page] != nullptr) {
        const int found = pages[at / k_page]->used.last_below(at % k_page);
        if (found >= 0) {
            return limit - limit % static_cast<order_key>(k_page) + found;
        }
    }
    const int before = used.last_below(at / k_page);
    if (before < 0) {
        return k_no_key;
    }
    return before * static_cast<order_key>(k_page) +
           pages[static_cast<std::size_t>(before)]->used.last_below(k_page);
}

inline item_ring& items_by_key::table::grow(order_key key) {
    const auto at = static_cast<std::size_t>(key);
    std::unique_ptr<page>& in = pages[at / k_page];
    if (in == nullptr) {
        in = std::make_unique<page>();
    }
    in->used.insert(at % k_page);
    used.insert(at / k_page);
    return in->rings[at % k_page];
}

inline runnable& items_by_key::table::take(order_key key) noexcept {
    const auto at = static_cast<std::size_t>(key);
    page& in = *pages[at / k_page];
    item_ring& ring = in.rings[at % k_page];
    runnable& first = ring.pop();
    if (ring.empty()) {
        in.used.erase(at % k_page);
        if (in.used.last_below(k_page) < 0) {
            used.erase(at / k_page);
        }
    }
    return first;
}

/// Thread safe. An allocation that fails in push() ends the program.
class alignas(k_cache_line) ranked_queue {
public:
    void push(runnable& item) noexcept { push(item, detail::key_of(item)); }
    /// With another key than its own.
    void push(runnable& item, order_key key) noexcept {
        const std::scoped_lock lock(m_lock);
        m_items.grow(key).push(item);
        grown(key);
    }
    void push(ready_batch& items) noexcept {
        const std::scoped_lock lock(m_lock);
        while (!items.empty()) {
            runnable& item = items.take_first();
            m_items.grow(detail::key_of(item)).push(item);
            grown(detail::key_of(item));
        }
    }
    /// Before all items of its key.
    void push_first(runnable& item) noexcept {
        const std::scoped_lock lock(m_lock);
        m_items.grow(detail::key_of(item)).push_first(item);
        grown(detail::key_of(item));
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

    /// Takes the item if it is the oldest of its key.
    bool pop_if_first(runnable& item) noexcept {
        const std::scoped_lock lock(m_lock);
        const order_key key = detail::key_of(item);
        return m_items.has(key) && m_items.is_first(key, item) && &take(key) == &item;
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
        std::size_t left = 0;
        for (order_key key = best(); key != k_no_key; key = m_items.last_below(key)) {
            ready_batch others;
            while (m_items.has(key)) {
                runnable& item = m_items.take(key);
                if (item.begun.load(std::memory_order_relaxed)) {
                    item.next = std::exchange(empty, &item);
                } else {
                    others.add(item);
                }
            }
            left += others.size();
            while (!others.empty()) {
                m_items.grow(key).push(others.take_first());
            }
        }
        m_size.store(left, std::memory_order_relaxed);
        m_best.store(m_items.last_below(k_keys), std::memory_order_relaxed);
        return empty;
    }

    /// seq_cst: read by a worker that has announced that it will sleep.
    bool empty() const noexcept { return m_best.load(std::memory_order_seq_cst) == k_no_key; }
    std::size_t size() const noexcept { return m_size.load(std::memory_order_relaxed); }

private:
    void grown(order_key key) noexcept {
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
