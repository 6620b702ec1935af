// SPDX-License-Identifier: BSL-1.0
// The handshake between a waiter and the event that it waits for: a word that is pending, done, or
// the address of the waiter. Used by joins of stolen fork-join entries.
//
// Exactly one of two things happens: register_waiter() succeeds and complete() returns the waiter,
// or complete() came first and register_waiter() returns false. The waiter must have left its stack
// before it registers (code that runs after the switch does it), because complete()'s caller may
// resume it at once. Explored exhaustively in tests/model/completion_test.cpp.
#pragma once

#include <quern/base/detail/atomics.hpp>

#include <cstdint>

namespace quern::detail {

template <class Atomics, class Waiter>
class completion {
public:
    bool done() const noexcept {
        return m_word.load(std::memory_order_acquire) == k_done;  // pairs with complete
    }

    /// Called once. Everything before it is visible to a thread that sees done(). Returns the
    /// waiter that the caller must resume, or null. The object may be destroyed as soon as the word
    /// is set.
    Waiter* complete() noexcept {
        // acq_rel: release pairs with done and register_waiter; acquire with register_waiter.
        const std::uintptr_t old = m_word.exchange(k_done, std::memory_order_acq_rel);
        return old == k_pending ? nullptr : reinterpret_cast<Waiter*>(old);
    }

    /// Called at most once. False: the event is already done and the waiter will not be resumed.
    bool register_waiter(Waiter& waiter) noexcept {
        std::uintptr_t expected = k_pending;
        return m_word.compare_exchange_strong(expected, reinterpret_cast<std::uintptr_t>(&waiter),
                                              std::memory_order_release,   // pairs with complete
                                              std::memory_order_acquire);  // pairs with complete
    }

private:
    static constexpr std::uintptr_t k_pending = 0;
    static constexpr std::uintptr_t k_done = 1;

    typename Atomics::template atomic<std::uintptr_t> m_word{k_pending};
};

}  // namespace quern::detail
