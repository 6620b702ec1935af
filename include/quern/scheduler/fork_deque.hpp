// SPDX-License-Identifier: BSL-1.0
// The deque of strictly nested fork-join entries that belongs to one stack: a split deque with
// hunger. The owner (whoever runs on the stack) pushes and pops at the private end without any
// atomic read-modify-write; thieves take from the public end. Protocol and proof sketch:
// src/scheduler/README.md, section "Fork deque"; explored in tests/model/fork_deque_test.cpp.
//
//      base ... stolen ... top | public ... split | private ... bottom        end
//
// A thief that finds nothing sets `limit` to null (hunger); the owner's next push then takes the
// slow path, where it makes entries public. Nothing shared is written by a push or a private pop.
#pragma once

#include <quern/base/assert.hpp>
#include <quern/base/atomics.hpp>
#include <quern/base/cache_line.hpp>
#include <quern/base/config.hpp>

#include <cstddef>
#include <cstdint>

namespace quern::detail {

template <class Atomics, class Entry>
class fork_deque {
public:
    using slot = typename Atomics::template plain<Entry*>;

    /// Requires: slots [base, end] exist; the one at `end` is spare.
    fork_deque(slot* base, slot* end) noexcept
        : m_bottom(base), m_split(base), m_base(base), m_end(end), m_limit(nullptr) {}

    // -- owner, fast -----------------------------------------------------------------------

    slot* bottom() const noexcept { return m_bottom; }

    /// Writes the entry at `p`, the present bottom. True: the caller must take the slow path
    /// (hunger, or the array is full).
    QUERN_ALWAYS_INLINE bool push(slot* p, Entry* entry) noexcept {
        QUERN_DEBUG_ASSERT(p == m_bottom,
                           "a fork_context was used after its function had returned, "
                           "or by another task than the one that received it");
        *p = entry;
        m_bottom = p + 1;
        compiler_barrier();
        return p >= m_limit.load(std::memory_order_relaxed);
    }

    /// Makes `p` the bottom again. True: the entry there was private and is the caller's now;
    /// false: the caller must reclaim() it.
    QUERN_ALWAYS_INLINE bool pop(slot* p) noexcept {
        m_bottom = p;
        compiler_barrier();
        return p >= m_split;
    }

    // -- owner, slow -----------------------------------------------------------------------

    bool full() const noexcept { return m_bottom > m_end; }
    bool no_room_at(slot* p) const noexcept { return p >= m_end; }
    /// Whether somebody has asked for work since the trap was armed.
    bool wanted() const noexcept { return m_limit.load(std::memory_order_relaxed) == nullptr; }
    bool has_private() const noexcept { return m_bottom > m_split; }
    /// Whether there are so many that nobody has asked for.
    bool has_private(std::size_t count) const noexcept {
        return m_bottom - m_split >= static_cast<std::ptrdiff_t>(count);
    }

    /// Arms the trap: pushes are free until a thief is hungry. Must come before the look at who is
    /// hungry (step 1 of the hunger protocol).
    void arm() noexcept { m_limit.exchange(m_end, std::memory_order_seq_cst); }

    /// Makes every push take the slow path.
    void trap() noexcept { m_limit.store(nullptr, std::memory_order_relaxed); }

    /// Makes the oldest half of the private entries public, at least one.
    void publish_half() noexcept { publish((private_count() + 1) / 2); }
    void publish_all() noexcept { publish(private_count()); }

    /// Takes the public entry at `p` back. False: it was stolen; the caller waits until it is done
    /// and then calls reset(p).
    bool reclaim(slot* p) noexcept {
        const auto i = static_cast<std::uint32_t>(p - m_base);
        std::uint64_t seen = m_public.load(std::memory_order_acquire);
        for (;;) {
            const std::uint32_t top = top_of(seen);
            if (i < top) {
                return false;
            }
            // Half of what lies between comes back, so that a deep unwinding is not one
            // read-modify-write per entry.
            const std::uint32_t split = top + (i - top) / 2;
            // acq_rel: orders this owner's earlier writes to re-used slots before what it
            // publishes later; a thief that read the word before fails its own exchange.
            if (m_public.compare_exchange_weak(seen, word(top, split), std::memory_order_acq_rel,
                                               std::memory_order_acquire)) {
                m_split = m_base + split;
                return true;
            }
        }
    }

    /// After the stolen entry at `p` is done: the deque ends there.
    /// Invariant: it is empty then (top == split == index of p + 1), so no thief can succeed and
    /// a plain store is enough.
    void reset(slot* p) noexcept {
        const auto i = static_cast<std::uint32_t>(p - m_base);
        QUERN_DEBUG_ASSERT(m_public.load(std::memory_order_relaxed) == word(i + 1, i + 1),
                           "a fork deque was reset while it held public entries");
        m_public.store(word(i, i), std::memory_order_release);  // pairs with steal
        m_split = p;
    }

    // -- thief -----------------------------------------------------------------------------

    /// Any thread, at any time, also while nobody runs on the stack.
    bool has_public() const noexcept {
        const std::uint64_t seen = m_public.load(std::memory_order_seq_cst);
        return top_of(seen) < split_of(seen);
    }

    /// Takes the oldest public entry, or null when there is none or another was faster.
    Entry* steal() noexcept {
        std::uint64_t seen = m_public.load(std::memory_order_acquire);  // pairs with publish
        const std::uint32_t top = top_of(seen);
        const std::uint32_t split = split_of(seen);
        if (top >= split) {
            return nullptr;
        }
        // acq_rel: acquire pairs with publish, so that the slot and the entry are visible.
        if (!m_public.compare_exchange_strong(seen, word(top + 1, split), std::memory_order_acq_rel,
                                              std::memory_order_relaxed)) {
            return nullptr;
        }
        // Read after the exchange: whatever is public now is what was claimed. The slot is
        // re-used only after its owner has seen the entry done.
        return m_base[top];
    }

    /// Asks the owner for work: its next push will trap. Must follow the read-modify-write by
    /// which the thief made itself known as searching or sleeping.
    void make_hungry() noexcept {
        if (m_limit.load(std::memory_order_seq_cst) != nullptr) {
            m_limit.store(nullptr, std::memory_order_seq_cst);
        }
    }

protected:
    /// Begins again with an empty deque. Requires: it is empty and nobody runs on the stack.
    void reopen() noexcept {
        m_bottom = m_split = m_base;
        m_public.store(0, std::memory_order_relaxed);
        m_limit.store(nullptr, std::memory_order_relaxed);
    }

private:
    static constexpr int k_split_shift = 32;

    static std::uint32_t top_of(std::uint64_t w) noexcept { return static_cast<std::uint32_t>(w); }
    static std::uint32_t split_of(std::uint64_t w) noexcept {
        return static_cast<std::uint32_t>(w >> k_split_shift);
    }
    static std::uint64_t word(std::uint32_t top, std::uint32_t split) noexcept {
        return (static_cast<std::uint64_t>(split) << k_split_shift) | top;
    }

    /// The bottom lies below the split while the owner waits for the last, stolen, entry.
    std::size_t private_count() const noexcept {
        return has_private() ? static_cast<std::size_t>(m_bottom - m_split) : 0;
    }

    void publish(std::size_t count) noexcept {
        if (count != 0) {
            m_split += count;
            // seq_cst: release pairs with steal; and the caller looks next at who sleeps, while
            // one who goes to sleep looks, after saying so, at this word.
            m_public.fetch_add(static_cast<std::uint64_t>(count) << k_split_shift,
                               std::memory_order_seq_cst);
        }
    }

    // Written by the owner at every push and pop; read by it alone.
    slot* m_bottom;
    /// Invariant: equals m_base + split_of(m_public) whenever the owner is not inside publish,
    /// reclaim or reset.
    slot* m_split;
    slot* const m_base;
    slot* const m_end;

    // Written by thieves: its own line, so that hunger does not slow the owner's line down.
    alignas(k_cache_line) typename Atomics::template atomic<slot*> m_limit;
    // {split, top}: ownership of public entries changes only by read-modify-write on this word.
    alignas(k_cache_line) typename Atomics::template atomic<std::uint64_t> m_public{0};
};

}  // namespace quern::detail
