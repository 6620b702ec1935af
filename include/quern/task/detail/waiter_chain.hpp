// SPDX-License-Identifier: BSL-1.0
// The chain of those who wait for one event. Entering it and closing it is lock-free. A waiter may
// leave before the event, which takes a lock that only other leavers, and the closing of a chain
// with waiters, wait for. Used by state_base. Proof sketch: src/task/README.md, section "Shared
// state"; explored in tests/model/waiter_chain_test.cpp.
#pragma once

#include <quern/base/detail/atomics.hpp>

#include <cstdint>

namespace quern::detail {

/// A Waiter has the members `next` and `is_linked`, and `newer()`: where the address of the waiter
/// before it is kept, or null if it never leaves.
template <class Atomics, class Waiter>
class waiter_chain {
public:
    bool is_closed() const noexcept {
        return m_word.load(std::memory_order_acquire) == k_closed;  // pairs with close
    }

    /// False: it is closed already, and the waiter is not in it.
    bool add(Waiter& w) noexcept {
        w.is_linked = false;
        std::uintptr_t seen = m_word.load(std::memory_order_acquire);  // pairs with close
        do {
            if (seen == k_closed) {
                return false;
            }
            w.next = reinterpret_cast<Waiter*>(seen);
        } while (
            !m_word.compare_exchange_weak(seen, reinterpret_cast<std::uintptr_t>(&w),
                                          std::memory_order_release,  // pairs with close and unlink
                                          std::memory_order_acquire));  // pairs with close
        return true;
    }

    /// Takes out a waiter that has been added once. True: it will not be in what close() returns.
    /// False: it is closed, and the waiter is or was there. Cost: constant, and one step for each
    /// waiter that has been added since the last time.
    bool leave(Waiter& w) noexcept {
        if (is_closed()) {
            return false;
        }
        int spins = 0;
        // seq_cst: as in close. acquire: pairs with the release of the lock below.
        while (m_leaving.exchange(true, std::memory_order_seq_cst)) {
            while (m_leaving.load(std::memory_order_relaxed)) {
                Atomics::back_off(spins);
            }
        }
        const bool has_left = unlink(w);
        m_leaving.store(false, std::memory_order_release);  // pairs with leave and close
        return has_left;
    }

    /// Once. Returns the waiters, oldest first, for the caller to notify.
    Waiter* close() noexcept {
        // seq_cst: this writes the word, then reads the lock; a leaver writes the lock, then reads
        // the word. So it sees the closed word, or this sees the lock. acquire: pairs with add.
        const std::uintptr_t old = m_word.exchange(k_closed, std::memory_order_seq_cst);
        if (old == k_empty) {
            return nullptr;
        }
        for (int spins = 0; m_leaving.load(std::memory_order_seq_cst);) {  // acquire: with leave
            Atomics::back_off(spins);
        }
        return reversed(reinterpret_cast<Waiter*>(old));
    }

protected:
    waiter_chain() noexcept = default;
    ~waiter_chain() = default;

    /// For a closer that knows that no other thread uses the chain.
    bool is_empty() const noexcept { return m_word.load(std::memory_order_relaxed) == k_empty; }
    void close_empty() noexcept {
        m_word.store(k_closed, std::memory_order_release);  // pairs with is_closed
    }

private:
    static constexpr std::uintptr_t k_empty = 0;
    static constexpr std::uintptr_t k_closed = 1;

    /// Under the lock.
    bool unlink(Waiter& w) noexcept {
        std::uintptr_t seen = m_word.load(std::memory_order_seq_cst);  // acquire: pairs with add
        while (seen != k_closed) {
            auto* const youngest = reinterpret_cast<Waiter*>(seen);
            link_back(youngest);
            Waiter* const older = w.next;
            if (youngest != &w) {
                Waiter* const newer = *w.newer();
                newer->next = older;
                set_newer(older, newer);
                return true;
            }
            if (m_word.compare_exchange_strong(seen, reinterpret_cast<std::uintptr_t>(older),
                                               std::memory_order_acquire,     // pairs with add
                                               std::memory_order_acquire)) {  // pairs with close
                return true;
            }
        }
        return false;
    }

    /// Those added since the last time get the way back, down to the first that has it.
    static void link_back(Waiter* youngest) noexcept {
        for (Waiter* w = youngest; w != nullptr && !w->is_linked; w = w->next) {
            w->is_linked = true;
            set_newer(w->next, w);
        }
    }

    static void set_newer(Waiter* of, Waiter* newer) noexcept {
        if (of != nullptr && of->newer() != nullptr) {
            *of->newer() = newer;
        }
    }

    static Waiter* reversed(Waiter* youngest_first) noexcept {
        Waiter* oldest_first = nullptr;
        while (youngest_first != nullptr) {
            Waiter* const w = youngest_first;
            youngest_first = w->next;
            w->next = oldest_first;
            oldest_first = w;
        }
        return oldest_first;
    }

    /// Empty, closed, or the youngest waiter.
    typename Atomics::template atomic<std::uintptr_t> m_word{k_empty};
    typename Atomics::template atomic<bool> m_leaving{false};
};

}  // namespace quern::detail
