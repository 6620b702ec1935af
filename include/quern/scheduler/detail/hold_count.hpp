// SPDX-License-Identifier: BSL-1.0
// The number of holds on a task, and what to do when the last one is dropped after its function has
// returned.
//
// The word is the number of holds, plus k_ended once the function has returned. The side that
// leaves k_ended alone in the word completes the task: the function's side when its fetch_or finds
// no hold, else the thread whose fetch_sub drops the last one. A hold may be added by the task
// before its function returns, or by the owner of another hold, so the count never rises from zero
// after that. The function to call is written before the fetch_or (release) and read after the
// fetch_sub (acquire). After its last operation on the word a side does not access the object,
// unless it completes the task. Explored exhaustively in tests/model/hold_count_test.cpp.
#pragma once

#include <quern/base/detail/atomics.hpp>

#include <cstdint>

namespace quern::detail {

template <class Atomics>
class hold_count {
public:
    using complete_function = void (*)(void* argument) noexcept;

    void add() noexcept { m_word.fetch_add(1, std::memory_order_relaxed); }

    /// Any thread. Completes the task if this was the last hold and the function has returned.
    void drop() noexcept {
        // acq_rel: release pairs with has_ended and with later drops; acquire with both.
        if (m_word.fetch_sub(1, std::memory_order_acq_rel) == (k_ended | 1)) {
            const complete_function complete = m_complete;
            complete(m_argument);
        }
    }

    /// The function has returned. True: there is no hold, and the caller completes the task. False:
    /// the thread that drops the last hold calls complete(argument), possibly before this returns.
    bool has_ended(complete_function complete, void* argument) noexcept {
        if (m_word.load(std::memory_order_acquire) == 0) {  // pairs with drop
            return true;
        }
        m_complete = complete;
        m_argument = argument;
        return m_word.fetch_or(k_ended, std::memory_order_acq_rel) == 0;  // pairs with drop
    }

    /// By the side that completes the task: so that the same task can run once more.
    void reopen() noexcept { m_word.store(0, std::memory_order_relaxed); }

    /// Any thread; already out of date.
    std::uint32_t outstanding() const noexcept {
        return m_word.load(std::memory_order_relaxed) & ~k_ended;
    }

private:
    static constexpr std::uint32_t k_ended = std::uint32_t{1} << 31;

    typename Atomics::template atomic<std::uint32_t> m_word{0};
    typename Atomics::template plain<complete_function> m_complete = nullptr;
    typename Atomics::template plain<void*> m_argument = nullptr;
};

}  // namespace quern::detail
