// SPDX-License-Identifier: BSL-1.0
// The ready items of one worker under the work-stealing policy: the owner pushes and pops at the
// bottom, thieves take the oldest at the top. Both ends live in one word {bottom, top}, so a push
// is one read-modify-write that also orders it before the look at who sleeps, and a pop is one.
//
// Why the indices never mislead a thief: `top` only grows (the owner takes the last item by
// advancing top, not by lowering bottom), so the slot at `top` keeps its content for as long as
// the word says `top`; a thief reads the slot before its exchange and the exchange succeeds only
// if `top` has not moved. Grown arrays are kept until the end, so a late reader reads valid memory.
// Explored in tests/model/ready_deque_test.cpp.
#pragma once

#include <quern/base/atomics.hpp>
#include <quern/base/cache_line.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace quern::detail {

template <class Atomics, class Item>
class ready_deque {
public:
    /// Requires: capacity is a power of two.
    explicit ready_deque(std::uint32_t capacity = 256) { grow(capacity, 0, 0); }

    /// Owner. Amortised one read-modify-write.
    void push(Item* item) {
        const std::uint64_t seen = m_ends.load(std::memory_order_relaxed);
        const std::uint32_t bottom = bottom_of(seen);
        array* slots = m_slots.load(std::memory_order_relaxed);
        if (bottom - top_of(seen) == slots->capacity) {
            slots = grow(2 * slots->capacity, top_of(seen), bottom);
        }
        slots->at(bottom).store(item, std::memory_order_relaxed);
        // seq_cst: release pairs with steal; ordered before the caller's look at who sleeps.
        m_ends.fetch_add(std::uint64_t{1} << k_bottom_shift, std::memory_order_seq_cst);
    }

    /// Owner: the youngest item, or null.
    Item* pop() noexcept { return pop_if(nullptr); }

    /// Owner: the youngest item if it is this one (or any, for null), else null.
    Item* pop_if(const Item* wanted) noexcept {
        std::uint64_t seen = m_ends.load(std::memory_order_relaxed);
        array* slots = m_slots.load(std::memory_order_relaxed);
        for (;;) {
            const std::uint32_t bottom = bottom_of(seen);
            const std::uint32_t top = top_of(seen);
            if (bottom == top) {
                return nullptr;
            }
            Item* const youngest = slots->at(bottom - 1).load(std::memory_order_relaxed);
            if (wanted != nullptr && youngest != wanted) {
                return nullptr;
            }
            const bool last = bottom - top == 1;
            const std::uint64_t next = last ? word(bottom, top + 1) : word(bottom - 1, top);
            if (m_ends.compare_exchange_weak(seen, next, std::memory_order_acq_rel,
                                             std::memory_order_relaxed)) {
                return youngest;
            }
        }
    }

    /// Anybody: the oldest item, or null when there is none or another was faster.
    Item* steal() noexcept {
        std::uint64_t seen = m_ends.load(std::memory_order_acquire);  // pairs with push
        const std::uint32_t bottom = bottom_of(seen);
        const std::uint32_t top = top_of(seen);
        if (bottom == top) {
            return nullptr;
        }
        array* slots = m_slots.load(std::memory_order_acquire);  // pairs with grow
        Item* item = slots->at(top).load(std::memory_order_relaxed);
        // acq_rel: acquire pairs with push, so that the item's fields are visible.
        return m_ends.compare_exchange_strong(seen, word(bottom, top + 1),
                                              std::memory_order_acq_rel, std::memory_order_relaxed)
                   ? item
                   : nullptr;
    }

    /// Anybody. seq_cst: the last look of a worker that has announced that it will sleep.
    std::uint32_t size() const noexcept {
        const std::uint64_t seen = m_ends.load(std::memory_order_seq_cst);
        return bottom_of(seen) - top_of(seen);
    }

private:
    static constexpr int k_bottom_shift = 32;

    struct array {
        explicit array(std::uint32_t n)
            : capacity(n), slots(std::make_unique<typename Atomics::template atomic<Item*>[]>(n)) {}

        auto& at(std::uint32_t index) noexcept { return slots[index & (capacity - 1)]; }

        std::uint32_t capacity;
        std::unique_ptr<typename Atomics::template atomic<Item*>[]> slots;
    };

    static std::uint32_t top_of(std::uint64_t w) noexcept { return static_cast<std::uint32_t>(w); }
    static std::uint32_t bottom_of(std::uint64_t w) noexcept {
        return static_cast<std::uint32_t>(w >> k_bottom_shift);
    }
    static std::uint64_t word(std::uint32_t bottom, std::uint32_t top) noexcept {
        return (static_cast<std::uint64_t>(bottom) << k_bottom_shift) | top;
    }

    array* grow(std::uint32_t capacity, std::uint32_t top, std::uint32_t bottom) {
        auto bigger = std::make_unique<array>(capacity);
        for (std::uint32_t i = top; i != bottom; ++i) {
            bigger->at(i).store(
                m_slots.load(std::memory_order_relaxed)->at(i).load(std::memory_order_relaxed),
                std::memory_order_relaxed);
        }
        m_slots.store(bigger.get(), std::memory_order_release);  // pairs with steal
        m_arrays.push_back(std::move(bigger));
        return m_slots.load(std::memory_order_relaxed);
    }

    alignas(k_cache_line) typename Atomics::template atomic<std::uint64_t> m_ends{0};
    typename Atomics::template atomic<array*> m_slots{nullptr};
    std::vector<std::unique_ptr<array>> m_arrays;  // the owner's; all but the last are retired
};

}  // namespace quern::detail
