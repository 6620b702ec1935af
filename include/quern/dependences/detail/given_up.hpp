// SPDX-License-Identifier: BSL-1.0
// Who releases an access of a task that has children: the thread that finds nothing missing to it,
// or the end of the task. While the function runs, no access is released on data that a failed
// child should have computed: the error is not yet where it stops the tasks that wait. Protocol:
// src/dependences/README.md, "Why it is right", 11. Explored exhaustively in
// tests/model/dependences_errors_test.cpp.
#pragma once

#include <quern/base/detail/atomics.hpp>

#include <cstdint>

namespace quern::detail {

/// Of one access. Written by its task, and, once between give_up() and the end, by the thread that
/// finds nothing missing.
template <class Atomics>
class given_up_word {
public:
    /// What releases it is decided, and the end of its task is not it.
    bool is_set() const noexcept {
        return m_now.load(std::memory_order_relaxed) != static_cast<std::uint8_t>(state::no);
    }

    // The task.
    void by_running_task() noexcept { set(state::running); }
    void at_end() noexcept { set(state::ended); }
    /// Nothing is missing, but a child has failed.
    void defer() noexcept { set(state::deferred); }
    /// The function has returned, and the error of its children, if any, stops the tasks that wait.
    /// True: the caller releases the access, which was left to it. Requires: is_set().
    bool is_left_to_end() noexcept {
        // acq_rel: acquire pairs with may_release; release shows it that the error has gone up.
        return m_now.exchange(static_cast<std::uint8_t>(state::ended), std::memory_order_acq_rel) ==
               static_cast<std::uint8_t>(state::deferred);
    }

    /// Nothing is missing any more. False: it is left to the end of the task. `has_failed()`:
    /// whether a child of the task has.
    template <class HasFailed>
    bool may_release(HasFailed has_failed) noexcept {
        auto seen = static_cast<std::uint8_t>(state::running);
        // acquire: pairs with is_left_to_end.
        return m_now.load(std::memory_order_acquire) != seen || !has_failed() ||
               !m_now.compare_exchange_strong(seen, static_cast<std::uint8_t>(state::deferred),
                                              std::memory_order_acq_rel);
    }

private:
    enum class state : std::uint8_t {
        no,
        running,   ///< by the function, which had not returned by then
        deferred,  ///< the same, but a child has failed
        ended,     ///< the function has returned
    };

    void set(state now) noexcept {
        // relaxed: the links of the access, or its count, publish it.
        m_now.store(static_cast<std::uint8_t>(now), std::memory_order_relaxed);
    }

    typename Atomics::template atomic<std::uint8_t> m_now{0};
};

}  // namespace quern::detail
