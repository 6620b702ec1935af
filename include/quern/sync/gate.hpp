// SPDX-License-Identifier: BSL-1.0
// The protocol of the latch, which opens once, and of the event, which may be closed again: one
// word that holds those who wait. It neither sleeps nor wakes: opening it returns whom the caller
// must wake. The read-modify-write that opens it is the opener's last access, so who finds it open
// may destroy it. Protocol and proof: src/sync/README.md; explored in tests/model/latch_test.cpp
// and event_test.cpp.
#pragma once

#include <quern/base/atomics.hpp>
#include <quern/base/config.hpp>
#include <quern/sync/waiting.hpp>

#include <cstdint>

namespace quern::detail {

template <class Atomics, class Waiter>
class gate {
public:
    constexpr explicit gate(bool is_open) noexcept : m_word(is_open ? k_open : k_nobody) {}

    bool is_open() const noexcept {
        return m_word.load(std::memory_order_acquire) == k_open;  // pairs with open
    }

    /// False: it is open. True: `self` waits and will be woken; the caller must not touch this
    /// object again before that.
    bool enqueue(Waiter& self) noexcept {
        std::uintptr_t word = m_word.load(std::memory_order_acquire);  // pairs with open
        while (word != k_open) {
            self.next = reinterpret_cast<Waiter*>(word);
            if (m_word.compare_exchange_weak(word, reinterpret_cast<std::uintptr_t>(&self),
                                             std::memory_order_release,     // pairs with open
                                             std::memory_order_acquire)) {  // pairs with open
                return true;
            }
        }
        return false;
    }

    /// Returns those who wait, as a chain, the first one first; null when it was open.
    Waiter* open() noexcept {
        // acq_rel: release pairs with is_open and enqueue; acquire with enqueue.
        const std::uintptr_t word = m_word.exchange(k_open, std::memory_order_acq_rel);
        if (word == k_open) {
            return nullptr;
        }
        Waiter* last = reinterpret_cast<Waiter*>(word);
        Waiter* first = nullptr;
        while (last != nullptr) {
            Waiter* const before = last->next;
            last->next = first;
            first = last;
            last = before;
        }
        return first;
    }

    /// Who comes from now on waits. Does nothing when it is not open.
    void close() noexcept {
        std::uintptr_t word = k_open;
        m_word.compare_exchange_strong(word, k_nobody, std::memory_order_relaxed,
                                       std::memory_order_relaxed);
    }

private:
    static constexpr std::uintptr_t k_nobody = 0;
    static constexpr std::uintptr_t k_open = 1;

    /// k_nobody, k_open, or the address of the last one that came to wait.
    typename Atomics::template atomic<std::uintptr_t> m_word;
};

using task_gate = gate<std_atomics, waiter>;

/// Waits until it is open.
QUERN_COLD void wait_for(task_gate& closed) noexcept;

}  // namespace quern::detail
