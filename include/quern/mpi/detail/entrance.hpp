// SPDX-License-Identifier: BSL-1.0
// The entrance to a library in which at most one thread may be at a time. A caller that finds it
// taken does not wait: it leaves its request with the holder, who serves it before leaving.
// Protocol: src/mpi/README.md, section "Entrance"; explored in tests/model/entrance_test.cpp.
#pragma once

#include <quern/base/detail/atomics.hpp>

#include <cstdint>

namespace quern::mpi::detail {

template <class Atomics>
class entrance {
public:
    /// A request that the holder serves. Derive from it.
    class item {
    public:
        item* next() noexcept { return m_next; }

    private:
        friend class entrance;
        typename Atomics::template plain<item*> m_next = nullptr;
    };

    /// True: the caller is the holder, and must leave(). seq_cst: the loser of the exchange in
    /// hand_over relies on its order against leave().
    bool try_enter() noexcept { return m_taken.exchange(1, std::memory_order_seq_cst) == 0; }

    /// Leaves `one` with the holder, after which it may end at any moment. True: there was no
    /// holder, the caller is it now, and must leave().
    bool hand_over(item& one) noexcept {
        item* first = m_left.load(std::memory_order_relaxed);
        do {
            one.m_next = first;
            // seq_cst: before the exchange on m_taken (leave); its release pairs with take_left.
        } while (!m_left.compare_exchange_weak(first, &one, std::memory_order_seq_cst,
                                               std::memory_order_relaxed));
        return try_enter();
    }

    /// By the holder: calls serve(item) for what was left with it, oldest first, and leaves.
    /// `serve` must read next() of nothing: an item may end when it is served.
    template <class Serve>
    void leave(Serve&& serve) noexcept {
        do {
            for (item* one = take_left(); one != nullptr;) {
                item& served = *one;
                one = served.m_next;
                serve(served);
            }
            m_taken.store(0, std::memory_order_seq_cst);
            // seq_cst: after the store. Either this sees the item, or try_enter in hand_over
            // succeeds.
        } while (m_left.load(std::memory_order_seq_cst) != nullptr && try_enter());
    }

private:
    /// All that was left, oldest first.
    item* take_left() noexcept {
        if (m_left.load(std::memory_order_relaxed) == nullptr) {
            return nullptr;  // what is left later is seen by leave()
        }
        item* youngest = m_left.exchange(nullptr, std::memory_order_acquire);  // pairs: hand_over
        item* oldest = nullptr;
        while (youngest != nullptr) {
            item* const before = youngest->m_next;
            youngest->m_next = oldest;
            oldest = youngest;
            youngest = before;
        }
        return oldest;
    }

    typename Atomics::template atomic<std::uint32_t> m_taken{0};
    typename Atomics::template atomic<item*> m_left{nullptr};
};

}  // namespace quern::mpi::detail
