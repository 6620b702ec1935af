// SPDX-License-Identifier: BSL-1.0
// The split deque of strictly nested fork-join entries that belongs to one stack. The owner (the
// worker that runs the stack) pushes and pops at the private end without any atomic
// read-modify-write; thieves take from the public end. Protocol and proof sketch:
// src/scheduler/README.md, section "Fork deque"; explored in tests/model/fork_deque_test.cpp.
//
//      base ... stolen ... top | public ... split | private ... bottom        end
//
// A thief that finds no public entry sets `limit` to null. The owner's next push then takes the
// slow path and publishes entries. When the owner does not push for long, the thief moves the split
// itself, behind a barrier on all processors. The fast path pays for neither: a push writes two
// words and reads the limit, a pop writes one word and reads the split.
#pragma once

#include <quern/base/detail/assert.hpp>
#include <quern/base/detail/atomics.hpp>
#include <quern/base/detail/cache_line.hpp>
#include <quern/base/detail/config.hpp>

#include <algorithm>
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

    slot* bottom() const noexcept { return m_bottom.load(std::memory_order_relaxed); }

    /// Writes the entry at `p`, the present bottom. True: the caller must take the slow path,
    /// because work is requested or the array is full.
    QUERN_ALWAYS_INLINE bool push(slot* p, Entry* entry) noexcept {
        QUERN_DEBUG_ASSERT(p == bottom(),
                           "a fork_context was used after its function had returned, "
                           "or by another task than the one that received it");
        *p = entry;
        move_bottom(p + 1);
        return p >= m_limit.load(std::memory_order_relaxed);
    }

    /// Makes `p` the bottom again. True: the entry there was private and now belongs to the caller.
    /// False: the caller must reclaim() it.
    QUERN_ALWAYS_INLINE bool pop(slot* p) noexcept {
        move_bottom(p);
        return is_private(p);
    }

    // -- owner, slow -----------------------------------------------------------------------

    bool full() const noexcept { return bottom() > m_end; }
    bool no_room_at(slot* p) const noexcept { return p >= m_end; }
    /// Whether a thief has requested work since arm().
    bool wanted() const noexcept { return m_limit.load(std::memory_order_relaxed) == nullptr; }
    /// Any thread. Exact for the owner, unless a thief is taking over.
    bool has_private() const noexcept { return bottom() > split(); }
    bool has_private(std::size_t count) const noexcept {
        return bottom() - split() >= static_cast<std::ptrdiff_t>(count);
    }

    /// Lets pushes take the fast path until a thief requests work. Must precede the check for idle
    /// workers (step 1 of the protocol for requests).
    void arm() noexcept { m_limit.exchange(m_end, std::memory_order_seq_cst); }

    /// Makes every push take the slow path.
    void force_slow_path() noexcept { m_limit.store(nullptr, std::memory_order_relaxed); }

    /// Publishes the oldest half of the private entries, at least one.
    void publish_half() noexcept { publish(2); }
    void publish_all() noexcept { publish(1); }

    /// Takes back the entry at `p`, which pop() did not find private. False: it was stolen; the
    /// caller waits until it is done and then calls reset(p).
    bool reclaim(slot* p) noexcept {
        lock();
        const auto i = static_cast<std::uint32_t>(p - m_base);
        bool is_mine = is_private(p);  // a thief that was taking over did not take it
        std::uint64_t seen = m_public.load(std::memory_order_acquire);
        while (!is_mine && i >= top_of(seen)) {
            const std::uint32_t top = top_of(seen);
            // Takes back half of the entries between, so that unwinding a deep recursion does not
            // cost one read-modify-write per entry.
            const std::uint32_t split = top + (i - top) / 2;
            // acq_rel: orders this owner's earlier writes to reused slots before later
            // publications; a thief that read the word before fails its own exchange.
            if (m_public.compare_exchange_weak(seen, word(top, split), std::memory_order_acq_rel,
                                               std::memory_order_acquire)) {
                m_split.store(m_base + split, std::memory_order_relaxed);
                is_mine = true;
            }
        }
        unlock();
        return is_mine;
    }

    /// Called when the stolen entry at `p` is done: the deque ends there.
    /// Invariant: the deque is empty then (top == split == index of p + 1), so no thief can succeed
    /// and a plain store is enough.
    void reset(slot* p) noexcept {
        lock();
        const auto i = static_cast<std::uint32_t>(p - m_base);
        QUERN_DEBUG_ASSERT(m_public.load(std::memory_order_relaxed) == word(i + 1, i + 1),
                           "a fork deque was reset while it held public entries");
        m_public.store(word(i, i), std::memory_order_release);  // pairs with steal
        m_split.store(p, std::memory_order_relaxed);
        unlock();
    }

    // -- thief -----------------------------------------------------------------------------

    /// Any thread, at any time, also while no worker runs the stack.
    bool has_public() const noexcept {
        const std::uint64_t seen = m_public.load(std::memory_order_seq_cst);
        return top_of(seen) < split_of(seen);
    }

    /// Takes the oldest public entry. Null: there is none, or another thread was faster.
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
        // Read after the exchange: what is public now is what was claimed. The slot is reused only
        // after its owner has seen the entry done.
        return m_base[top];
    }

    /// Requests work: the owner's next push takes the slow path. Must follow the read-modify-write
    /// by which the thief announced that it searches or sleeps. `now` is not 0.
    void request_work(std::uint64_t now) noexcept {
        if (m_limit.load(std::memory_order_seq_cst) != nullptr) {
            m_requested_since.store(now, std::memory_order_relaxed);
            m_limit.store(nullptr, std::memory_order_seq_cst);  // pairs with arm
        }
    }

    /// Whether a request is older than `patience` and the owner has not pushed since, but holds
    /// private entries. The owner's cache line is read last: thieves call this often, and each read
    /// would take the line from an owner that pushes.
    bool is_silent(std::uint64_t now, std::uint64_t patience) const noexcept {
        if (m_limit.load(std::memory_order_acquire) != nullptr) {  // pairs with request_work
            return false;
        }
        const std::uint64_t since = m_requested_since.load(std::memory_order_relaxed);
        return since != 0 && now > since && now - since > patience && has_private();
    }

    /// Publishes the oldest half of the private entries without the owner. Any thread, at any time.
    /// False: there are none, another thread is doing it, or this machine lacks the barrier.
    QUERN_COLD bool take_over() noexcept {
        if (!has_private() || m_busy.load(std::memory_order_relaxed) ||
            m_busy.exchange(true, std::memory_order_acquire)) {  // pairs with unlock
            return false;
        }
        slot* const from = split();
        const std::ptrdiff_t wish = portion(from, 2);
        m_split.store(from + wish, std::memory_order_relaxed);
        // From now on the owner sees the new split before it takes an entry, or it has lowered the
        // bottom before, which is seen here.
        const bool is_barrier = wish != 0 && Atomics::heavy_barrier();
        const std::ptrdiff_t left = m_bottom.load(std::memory_order_acquire) - from;
        const std::ptrdiff_t taken = is_barrier && left > 0 ? std::min(wish, left) : 0;
        m_split.store(from + taken, std::memory_order_relaxed);
        add_public(taken);
        unlock();
        return taken != 0;
    }

protected:
    /// Before the stack is reused. Requires: the deque is empty and no worker runs the stack. A
    /// late thief may still be taking over; it finds nothing and restores the split.
    void reopen() noexcept {
        QUERN_DEBUG_ASSERT(bottom() == m_base && m_public.load(std::memory_order_relaxed) == 0,
                           "a stack was given back with forked children in its deque");
        force_slow_path();
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

    slot* split() const noexcept { return m_split.load(std::memory_order_relaxed); }
    bool is_private(const slot* p) const noexcept { return p >= split(); }

    /// Light barriers cost nothing: a thief that has passed its heavy barrier sees this store, or
    /// the owner's next read of split or limit sees what the thief wrote before.
    QUERN_ALWAYS_INLINE void move_bottom(slot* to) noexcept {
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

    /// The number of private entries from `from` on, divided by `divisor` and rounded up. The
    /// bottom lies below the split while the owner waits for the last, stolen, entry.
    std::ptrdiff_t portion(const slot* from, std::ptrdiff_t divisor) const noexcept {
        const std::ptrdiff_t n = bottom() - from;
        return n > 0 ? (n + divisor - 1) / divisor : 0;
    }

    void publish(std::ptrdiff_t divisor) noexcept {
        if (bottom() == m_base) {
            return;  // empty: has_private() would not do, since a thief may be taking over
        }
        lock();
        const std::ptrdiff_t count = portion(split(), divisor);
        m_split.store(split() + count, std::memory_order_relaxed);
        add_public(count);
        unlock();
    }

    void add_public(std::ptrdiff_t count) noexcept {
        if (count != 0) {
            // seq_cst: release pairs with steal. The caller next reads the number of sleepers, and
            // a sleeper reads this word after announcing itself.
            m_public.fetch_add(static_cast<std::uint64_t>(count) << k_split_shift,
                               std::memory_order_seq_cst);
        }
    }

    // Written by the owner at every push and pop; read by a thief that takes over.
    typename Atomics::template atomic<slot*> m_bottom;
    /// Invariant: equals m_base + split_of(m_public) whenever the lock is free.
    typename Atomics::template atomic<slot*> m_split;
    slot* const m_base;
    slot* const m_end;

    // Written by thieves: on its own line, so that requests do not slow down the owner's line.
    alignas(k_cache_line) typename Atomics::template atomic<slot*> m_limit;
    /// When a thief last set the limit to null, or 0.
    typename Atomics::template atomic<std::uint64_t> m_requested_since{0};
    // {split, top}: ownership of public entries changes only by read-modify-write on this word.
    alignas(k_cache_line) typename Atomics::template atomic<std::uint64_t> m_public{0};
    typename Atomics::template atomic<bool> m_busy{false};  ///< lock of all code that moves the
                                                            ///< split
};

}  // namespace quern::detail
