// SPDX-License-Identifier: BSL-1.0
// The ready items of one worker under the work-stealing policy: a split deque. The owner pushes and
// pops at the private end without any atomic read-modify-write and without a fence, and can remove
// an item from the middle to run it inline. Thieves take from the public end. Protocol and proof
// sketch: src/scheduler/README.md, section "Ready deque"; explored in
// tests/model/ready_deque_test.cpp.
//
//      ... taken ... top | public ... split | private ... bottom ...
//
// A thief that finds no public entry leaves a request for work. The owner's next push, pop or
// removal then publishes entries. When the owner does none of these for long, the thief moves the
// split itself, behind a barrier on all processors.
#pragma once

#include <quern/base/detail/atomics.hpp>
#include <quern/base/detail/cache_line.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace quern::detail {

/// `Item` has a `position`: an atomic number for the deque that holds the item.
template <class Atomics, class Item>
class ready_deque {
public:
    /// Most public entries after one publication: entries are taken only from the ends of this
    /// part.
    static constexpr std::uint32_t k_answer = 64;

    /// Requires: capacity is a power of two.
    explicit ready_deque(std::uint32_t capacity = 256) { grow(capacity, 0, 0); }

    // -- owner, fast -----------------------------------------------------------------------

    /// True: a thief has requested work, and the caller must publish.
    bool push(Item* item) {
        const std::uint32_t bottom = m_bottom.load(std::memory_order_relaxed);
        if (bottom == m_end) [[unlikely]] {
            make_room(bottom);
        }
        item->position.store(bottom, std::memory_order_relaxed);
        slot(bottom).store(item, std::memory_order_relaxed);
        move_bottom(bottom + 1);
        return wanted();
    }

    /// The youngest item, or null.
    Item* pop() noexcept {
        for (;;) {
            const std::uint32_t youngest = m_bottom.load(std::memory_order_relaxed) - 1;
            if (is_private(youngest)) [[likely]] {
                move_bottom(youngest);
                if (is_private(youngest)) [[likely]] {
                    if (Item* const item = slot(youngest).load(std::memory_order_relaxed)) {
                        return item;
                    }
                    m_holes -= m_holes != 0 ? 1 : 0;  // not below 0: the hole may have been public
                    continue;
                }
                move_bottom(youngest + 1);  // a thief is taking over
            }
            Item* item = nullptr;
            if (!reclaim(item)) {
                return item;
            }
        }
    }

    /// Removes the item from any position. False: it is not here, or a thief was faster.
    bool remove(const Item& item) noexcept {
        const std::uint32_t at = item.position.load(std::memory_order_relaxed);
        const std::uint32_t bottom = m_bottom.load(std::memory_order_relaxed);
        if (!is_private(at)) {
            return remove_public(item, at);
        }
        if (distance(at, bottom) <= 0 || slot(at).load(std::memory_order_relaxed) != &item) {
            return false;
        }
        // Hides the item and all younger ones, as pop() does, so that no thief can take them over.
        move_bottom(at);
        if (!is_private(at)) {
            move_bottom(bottom);
            return remove_public(item, at);
        }
        if (at + 1 != bottom) {
            make_hole(at);
            move_bottom(bottom);
            if (m_holes >= k_few_holes && 2 * m_holes > bottom - split()) [[unlikely]] {
                tidy();
            }
        }
        return true;
    }

    /// Whether a thief has requested work since the last arm().
    bool wanted() const noexcept { return m_requested_since.load(std::memory_order_relaxed) != 0; }

    bool has_private() const noexcept {
        return distance(split(), m_bottom.load(std::memory_order_relaxed)) > 0;
    }
    /// Private entries, including holes. Reads nothing that thieves write often.
    std::uint32_t private_size() const noexcept {
        const std::int32_t n = distance(split(), m_bottom.load(std::memory_order_relaxed));
        return n > 0 ? static_cast<std::uint32_t>(n) : 0;
    }

    // -- owner, slow -----------------------------------------------------------------------

    /// Withdraws the request. Must precede the check for idle workers.
    void arm() noexcept { m_requested_since.exchange(0, std::memory_order_seq_cst); }

    /// Publishes the oldest half of the private entries, at most k_answer.
    void publish_half() noexcept { publish(k_answer, 2); }
    void publish_all() noexcept { publish(~std::uint32_t{0}, 1); }

    // -- thief -----------------------------------------------------------------------------

    /// The oldest public item. Null: there is none, or another thread was faster.
    Item* steal() noexcept {
        for (;;) {
            std::uint64_t seen = m_public.load(std::memory_order_acquire);  // pairs with publish
            const std::uint32_t top = top_of(seen);
            if (split_of(seen) == top) {
                return nullptr;
            }
            array* slots = m_slots.load(std::memory_order_acquire);  // pairs with grow
            Item* item = slots->at(top).load(std::memory_order_relaxed);
            // acq_rel: acquire pairs with publish, so that the item's fields are visible.
            if (!m_public.compare_exchange_strong(seen, word(split_of(seen), top + 1),
                                                  std::memory_order_acq_rel,
                                                  std::memory_order_relaxed)) {
                return nullptr;
            }
            if (item != nullptr) {  // else a hole
                return item;
            }
        }
    }

    /// Requests work. Must follow the read-modify-write by which the thief announced that it
    /// searches or sleeps. `now` is not 0.
    void request_work(std::uint64_t now) noexcept {
        if (m_requested_since.load(std::memory_order_seq_cst) == 0) {
            m_requested_since.store(now, std::memory_order_seq_cst);  // pairs with arm
        }
    }

    /// Whether a request is older than `patience` and the owner still holds private entries.
    bool is_silent(std::uint64_t now, std::uint64_t patience) const noexcept {
        const std::uint64_t since = m_requested_since.load(std::memory_order_relaxed);
        return since != 0 && now > since && now - since > patience && has_private();
    }

    /// Publishes the oldest half of the private entries without the owner, at most k_answer. For a
    /// thief whose request is old. False: there were none, another thread is doing it, or this
    /// machine lacks the barrier.
    QUERN_COLD bool take_over() noexcept {
        if (!has_private() || m_busy.load(std::memory_order_relaxed) ||
            m_busy.exchange(true, std::memory_order_acquire)) {  // pairs with unlock
            return false;
        }
        const std::uint32_t from = split();
        const std::uint32_t wish = portion(from, k_answer, 2);
        m_split.store(from + wish, std::memory_order_relaxed);
        // From now on the owner sees the new split before it takes an entry, or it has lowered the
        // bottom before, which is seen here.
        const bool is_barrier = wish != 0 && Atomics::heavy_barrier();
        const std::int32_t left = distance(from, m_bottom.load(std::memory_order_acquire));
        const std::uint32_t taken =
            is_barrier && left > 0 ? std::min(wish, static_cast<std::uint32_t>(left)) : 0;
        m_split.store(from + taken, std::memory_order_relaxed);
        add_public(taken);
        unlock();
        return taken != 0;
    }

    /// Any thread. seq_cst: the last check of a worker that has announced that it will sleep.
    std::uint32_t public_size() const noexcept {
        const std::uint64_t seen = m_public.load(std::memory_order_seq_cst);
        return split_of(seen) - top_of(seen);
    }

    /// Already out of date; includes holes.
    std::uint32_t size() const noexcept {
        const std::int32_t n = distance(top_of(m_public.load(std::memory_order_seq_cst)),
                                        m_bottom.load(std::memory_order_acquire));
        return n > 0 ? static_cast<std::uint32_t>(n) : 0;
    }

private:
    static constexpr int k_split_shift = 32;
    static constexpr std::uint32_t k_few_holes = 64;  // too few to be worth closing (guessed)

    struct array {
        explicit array(std::uint32_t n)
            : capacity(n), slots(std::make_unique<typename Atomics::template atomic<Item*>[]>(n)) {}

        auto& at(std::uint32_t index) noexcept { return slots[index & (capacity - 1)]; }

        std::uint32_t capacity;
        std::unique_ptr<typename Atomics::template atomic<Item*>[]> slots;
    };

    static std::uint32_t top_of(std::uint64_t w) noexcept { return static_cast<std::uint32_t>(w); }
    static std::uint32_t split_of(std::uint64_t w) noexcept {
        return static_cast<std::uint32_t>(w >> k_split_shift);
    }
    static std::uint64_t word(std::uint32_t split, std::uint32_t top) noexcept {
        return (static_cast<std::uint64_t>(split) << k_split_shift) | top;
    }
    /// Indices wrap round.
    static std::int32_t distance(std::uint32_t from, std::uint32_t to) noexcept {
        return static_cast<std::int32_t>(to - from);
    }

    auto& slot(std::uint32_t index) noexcept {
        return m_slots.load(std::memory_order_relaxed)->at(index);
    }
    std::uint32_t split() const noexcept { return m_split.load(std::memory_order_relaxed); }
    bool is_private(std::uint32_t index) const noexcept { return distance(split(), index) >= 0; }

    /// Light barriers: a thief that has passed its heavy barrier sees this store, or the owner's
    /// next read of split or request sees what the thief wrote before.
    void move_bottom(std::uint32_t to) noexcept {
        Atomics::light_barrier();
        m_bottom.store(to, std::memory_order_release);  // pairs with take_over
        Atomics::light_barrier();
    }

    void lock() noexcept {
        int spins = 0;
        while (m_busy.exchange(true, std::memory_order_acquire)) {  // pairs with unlock
            Atomics::back_off(spins);
        }
    }
    void unlock() noexcept { m_busy.store(false, std::memory_order_release); }  // pairs with lock

    /// The private part is empty, or a thief is taking over. Takes back half of the public part.
    /// False: pop() must return `last`, which is the last entry or null.
    QUERN_COLD bool reclaim(Item*& last) noexcept {
        lock();
        std::uint64_t seen = m_public.load(std::memory_order_acquire);
        bool retry = has_private();
        while (!retry && split_of(seen) != top_of(seen)) {
            const std::uint32_t top = top_of(seen);
            const std::uint32_t kept = (split_of(seen) - top) / 2;
            // The slot at top keeps its content as long as the word says top. So the last entry is
            // taken in the same way as by a thief.
            const std::uint64_t next =
                kept == 0 ? word(split_of(seen), top + 1) : word(top + kept, top);
            Item* const oldest = slot(top).load(std::memory_order_relaxed);
            if (m_public.compare_exchange_weak(seen, next, std::memory_order_acq_rel,
                                               std::memory_order_acquire)) {
                m_split.store(split_of(next), std::memory_order_relaxed);
                last = kept == 0 ? oldest : nullptr;
                retry = kept != 0 || oldest == nullptr;
            }
        }
        unlock();
        return retry;
    }

    void make_hole(std::uint32_t at) noexcept {
        slot(at).store(nullptr, std::memory_order_relaxed);
        ++m_holes;
    }

    /// Takes the oldest public entry in the same way as a thief. To remove another one, takes back
    /// all younger ones too, which are then private.
    QUERN_COLD bool remove_public(const Item& item, std::uint32_t at) noexcept {
        lock();
        std::uint64_t seen = m_public.load(std::memory_order_acquire);
        bool is_taken = false;
        while (!is_taken && distance(top_of(seen), at) >= 0 && distance(at, split_of(seen)) > 0 &&
               slot(at).load(std::memory_order_relaxed) == &item) {
            const bool is_oldest = at == top_of(seen);
            const std::uint64_t next =
                is_oldest ? word(split_of(seen), at + 1) : word(at, top_of(seen));
            is_taken = m_public.compare_exchange_weak(seen, next, std::memory_order_acq_rel,
                                                      std::memory_order_acquire);
            if (is_taken && !is_oldest) {
                m_split.store(at, std::memory_order_relaxed);
                make_hole(at);
            }
        }
        unlock();
        return is_taken;
    }

    /// The number of private entries from `from` on, divided by `divisor` and rounded up, at most
    /// `most`.
    std::uint32_t portion(std::uint32_t from, std::uint32_t most,
                          std::uint32_t divisor) const noexcept {
        const std::int32_t n = distance(from, m_bottom.load(std::memory_order_relaxed));
        return n > 0 ? std::min(most, (static_cast<std::uint32_t>(n) + divisor - 1) / divisor) : 0;
    }

    QUERN_COLD void publish(std::uint32_t most, std::uint32_t divisor) noexcept {
        lock();
        const std::uint32_t count = portion(split(), most, divisor);
        m_split.store(split() + count, std::memory_order_relaxed);
        add_public(count);
        unlock();
    }

    void add_public(std::uint32_t count) noexcept {
        if (count != 0) {
            // seq_cst: release pairs with steal. The caller next reads the number of sleepers, and
            // a sleeper reads this word after announcing itself.
            m_public.fetch_add(static_cast<std::uint64_t>(count) << k_split_shift,
                               std::memory_order_seq_cst);
        }
    }

    /// Most private entries are holes: drops those at the old end, and closes the others if they
    /// are still too many.
    QUERN_COLD void tidy() noexcept {
        lock();
        const std::uint32_t bottom = m_bottom.load(std::memory_order_relaxed);
        const std::uint32_t first = split();
        m_holes -= std::min(m_holes, skip_oldest_holes(bottom) - first);
        if (2 * m_holes > bottom - split()) {
            std::uint32_t to = split();
            for (std::uint32_t i = to; i != bottom; ++i) {
                if (Item* const item = slot(i).load(std::memory_order_relaxed)) {
                    item->position.store(to, std::memory_order_relaxed);
                    slot(to++).store(item, std::memory_order_relaxed);
                }
            }
            m_holes = 0;
            move_bottom(to);
        }
        unlock();
    }

    /// Returns the new start of the private part. Only moves it when nothing is public: on an empty
    /// word no exchange of a thief succeeds, so a plain store is enough.
    std::uint32_t skip_oldest_holes(std::uint32_t bottom) noexcept {
        std::uint32_t from = split();
        if (top_of(m_public.load(std::memory_order_relaxed)) == from) {
            while (from != bottom && slot(from).load(std::memory_order_relaxed) == nullptr) {
                ++from;
            }
            m_public.store(word(from, from), std::memory_order_release);  // pairs with steal
            m_split.store(from, std::memory_order_relaxed);
        }
        return from;
    }

    /// `bottom` has reached m_end.
    QUERN_COLD void make_room(std::uint32_t bottom) {
        const std::uint32_t capacity = m_slots.load(std::memory_order_relaxed)->capacity;
        const std::uint32_t top = top_of(m_public.load(std::memory_order_relaxed));
        if (bottom - top == capacity) {
            grow(2 * capacity, top, bottom);
        } else {
            m_end = top + capacity;
        }
    }

    void grow(std::uint32_t capacity, std::uint32_t top, std::uint32_t bottom) {
        auto bigger = std::make_unique<array>(capacity);
        for (std::uint32_t i = top; i != bottom; ++i) {
            bigger->at(i).store(slot(i).load(std::memory_order_relaxed), std::memory_order_relaxed);
        }
        m_slots.store(bigger.get(), std::memory_order_release);  // pairs with steal
        m_arrays.push_back(std::move(bigger));
        m_end = top + capacity;
    }

    // Written by the owner at every push and pop; read by a thief that takes over.
    alignas(k_cache_line) typename Atomics::template atomic<std::uint32_t> m_bottom{0};
    /// Invariant: equals split_of(m_public) whenever the lock is free.
    typename Atomics::template atomic<std::uint32_t> m_split{0};
    std::uint32_t m_end = 0;    ///< where the array is full, or top must be read again
    std::uint32_t m_holes = 0;  ///< at least the number of holes among the private entries
    typename Atomics::template atomic<array*> m_slots{nullptr};
    std::vector<std::unique_ptr<array>> m_arrays;  // the owner's; all but the last are retired

    // Written by thieves, and by the owner when it publishes: the time of the open request, or 0.
    alignas(k_cache_line) typename Atomics::template atomic<std::uint64_t> m_requested_since{0};
    // {split, top}: ownership of public entries changes only by read-modify-write on this word.
    alignas(k_cache_line) typename Atomics::template atomic<std::uint64_t> m_public{0};
    typename Atomics::template atomic<bool> m_busy{false};  ///< lock of all code that moves the
                                                            ///< split
};

}  // namespace quern::detail
