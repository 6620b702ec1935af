// SPDX-License-Identifier: BSL-1.0
// The protocol of the latch, which opens once, and of the event, which may be closed again: one
// word that holds the list of waiters. It neither sleeps nor wakes: opening it returns the waiters
// to wake. The read-modify-write that opens it is the opener's last access, so a thread that finds
// it open may destroy it. A waiter whose deadline passes locks the word in order to leave the list.
// Protocol and proof: src/sync/README.md; explored in tests/model/latch_test.cpp and
// event_test.cpp.
#pragma once

#include <quern/base/detail/atomics.hpp>
#include <quern/base/detail/config.hpp>
#include <quern/scheduler/detail/stop_or_time.hpp>
#include <quern/scheduler/detail/timers.hpp>
#include <quern/sync/detail/co_waiting.hpp>
#include <quern/sync/detail/waiting.hpp>

#include <cstdint>
#include <stop_token>

namespace quern::detail {

template <class Atomics, class Waiter>
class gate {
public:
    constexpr explicit gate(bool is_open) noexcept : m_word(is_open ? k_open : k_closed) {}

    bool is_open() const noexcept {
        return (m_word.load(std::memory_order_acquire) & k_open) != 0;  // pairs with open
    }

    /// False: it is open. True: `self` is queued and will be woken; the caller must not touch this
    /// object before that.
    bool enqueue(Waiter& self) noexcept {
        std::uintptr_t word = unlocked(m_word.load(std::memory_order_acquire));  // pairs with open
        while (word != k_open) {
            self.next = reinterpret_cast<Waiter*>(word);
            if (m_word.compare_exchange_weak(word, reinterpret_cast<std::uintptr_t>(&self),
                                             std::memory_order_release,     // pairs with open
                                             std::memory_order_acquire)) {  // pairs with open
                return true;
            }
            word = unlocked(word);
        }
        return false;
    }

    /// For a wait with a deadline: if the waiter is late it is not queued but expired.
    bool enqueue_in_time(Waiter& self) noexcept {
        const std::uintptr_t word = lock();
        const bool queued = word != k_open && !self.late;
        if (queued) {
            self.next = reinterpret_cast<Waiter*>(word);
        } else {
            self.expired = word != k_open;
        }
        unlock(queued ? reinterpret_cast<std::uintptr_t>(&self) : word);
        return queued;
    }

    /// Removes a waiter whose deadline has passed; the caller must wake it. False: the gate has
    /// been opened for it, or it is not queued yet and marked late. Cost: one step per waiter
    /// queued after it.
    bool withdraw(Waiter& self) noexcept {
        const std::uintptr_t word = lock();
        Waiter* at = word == k_open ? nullptr : reinterpret_cast<Waiter*>(word);
        Waiter* later = nullptr;
        while (at != nullptr && at != &self) {
            later = at;
            at = next_of(*at);
        }
        if (at == nullptr) {
            self.late = true;
            unlock(word);
            return false;
        }
        if (later != nullptr) {
            later->next = self.next;
        }
        self.expired = true;
        unlock(later != nullptr ? word : reinterpret_cast<std::uintptr_t>(next_of(self)));
        return true;
    }

    /// Returns the waiters as a chain, oldest first; null if it was open.
    Waiter* open() noexcept {
        std::uintptr_t word = k_closed;
        // acq_rel: release pairs with is_open and enqueue; acquire with enqueue.
        while (!m_word.compare_exchange_weak(word, k_open, std::memory_order_acq_rel,
                                             std::memory_order_relaxed)) {
            word = unlocked(word);
        }
        if (word == k_open) {
            return nullptr;
        }
        Waiter* last = reinterpret_cast<Waiter*>(word);
        Waiter* first = nullptr;
        while (last != nullptr) {
            Waiter* const before = next_of(*last);
            last->next = first;
            first = last;
            last = before;
        }
        return first;
    }

    /// Makes later callers wait. Does nothing if it is not open.
    void close() noexcept {
        std::uintptr_t word = k_open;
        while (!m_word.compare_exchange_weak(word, k_closed, std::memory_order_relaxed,
                                             std::memory_order_relaxed)) {
            word = unlocked(word);
            if (word != k_open) {
                return;
            }
        }
    }

    /// The youngest waiter, linked to the others, or null. Without other users.
    const Waiter* waiters() const noexcept {
        const std::uintptr_t word = m_word.load(std::memory_order_relaxed);
        return word == k_open ? nullptr : reinterpret_cast<const Waiter*>(word);
    }

private:
    static constexpr std::uintptr_t k_closed = 0;
    static constexpr std::uintptr_t k_open = 1;
    static constexpr std::uintptr_t k_locked = 2;

    static Waiter* next_of(Waiter& w) noexcept { return static_cast<Waiter*>(w.next); }

    /// The given value of the word, or its current value as soon as it is unlocked.
    std::uintptr_t unlocked(std::uintptr_t word) const noexcept {
        for (int spins = 0; (word & k_locked) != 0;) {
            Atomics::back_off(spins);
            word = m_word.load(std::memory_order_acquire);  // pairs with open
        }
        return word;
    }

    /// Until unlock() no other thread changes the word. Only waits with a deadline use this.
    std::uintptr_t lock() noexcept {
        std::uintptr_t word = k_closed;
        while (!m_word.compare_exchange_weak(word, word | k_locked,
                                             std::memory_order_acquire,  // pairs with enqueue, open
                                             std::memory_order_relaxed)) {
            word = unlocked(word);
        }
        return word;
    }
    void unlock(std::uintptr_t word) noexcept {
        m_word.store(word, std::memory_order_release);  // pairs with lock, open, is_open
    }

    /// k_closed, k_open, or the address of the youngest waiter; with k_locked while the list is
    /// changed other than at its head.
    typename Atomics::template atomic<std::uintptr_t> m_word;
};

using task_gate = gate<std_atomics, waiter>;

/// Waits until it is open. `why` is for reports.
QUERN_COLD void wait_for(task_gate& closed, const wait_reason& why) noexcept;

/// As above, with a deadline. False: it has passed.
QUERN_COLD bool wait_for_until(task_gate& closed, const wait_reason& why,
                               timer::clock::time_point deadline) noexcept;

/// The same until a stop is requested.
QUERN_COLD bool wait_for_until(task_gate& closed, const wait_reason& why,
                               const std::stop_token& stop) noexcept;
QUERN_COLD bool wait_for_until(task_gate& closed, const wait_reason& why,
                               const stop_or_time& limit) noexcept;

/// For co_await: waits without a deadline until the primitive's gate opens.
template <class Primitive>
struct gate_opening {
    waiter make_waiter() const noexcept { return waiter(); }
    wait_reason why() const noexcept { return {&Primitive::k_wait, &of}; }
    bool ready(waiter&) const noexcept { return of.m_gate.is_open(); }
    bool enqueue(waiter& self) const noexcept { return of.m_gate.enqueue(self); }
    void result(waiter&) const noexcept {}

    const Primitive& of;
};

/// The same until a stop is requested. Gives whether it has opened.
template <class Primitive>
struct gate_opening_in_time : gate_opening<Primitive> {
    bool enqueue(waiter& self) const noexcept { return this->of.m_gate.enqueue_in_time(self); }
    void withdraw(waiter& self) const noexcept {
        detail::wake_if(this->of.m_gate.withdraw(self), self);
    }
    bool result(waiter& self) const noexcept { return !self.expired; }
};

}  // namespace quern::detail
