// SPDX-License-Identifier: BSL-1.0
// A check in builds with assertions: a task that suspends while it holds a lock makes every task
// that wants the lock wait as long. That is allowed and often a mistake. The first ten cases in a
// process are reported on stderr with the call stack. Waiting for another lock, or for a condition
// variable with its mutex, is not reported.
#pragma once

#include <quern/scheduler/detail/context.hpp>

#include <utility>

namespace quern {

namespace detail {

#if defined(NDEBUG)
inline constexpr bool k_check_held_locks = false;
#else
inline constexpr bool k_check_held_locks = true;
#endif

/// Called by the mutexes after the caller has locked or unlocked one.
inline void note_locked() noexcept {
    if constexpr (k_check_held_locks) {
        if (context* const here = current_context()) {
            ++here->held_locks;
        }
    }
}
inline void note_unlocked() noexcept {
    if constexpr (k_check_held_locks) {
        if (context* const here = current_context()) {
            --here->held_locks;
        }
    }
}

inline bool note_if_locked(bool locked) noexcept {
    if (locked) {
        note_locked();
    }
    return locked;
}

/// Called before the caller suspends, and after its task has ended.
void check_held_locks(context& self, const wait_reason& why) noexcept;
void check_left_locks(context& self) noexcept;

}  // namespace detail

/// While it lives, locks that the running task took before are not reported: it holds them across
/// waits on purpose. Does nothing in builds without assertions.
///
///     const std::scoped_lock lock(device);
///     const quern::ignore_held_locks on_purpose;    // it is ours until the answer is there
///     answer.wait();
class ignore_held_locks {
public:
    ignore_held_locks() noexcept : m_here(detail::current_context()) {
        if (m_here != nullptr) {
            m_count = std::exchange(m_here->held_locks, 0);
        }
    }
    ignore_held_locks(const ignore_held_locks&) = delete;
    ignore_held_locks& operator=(const ignore_held_locks&) = delete;
    ~ignore_held_locks() {
        if (m_here != nullptr) {
            m_here->held_locks += m_count;
        }
    }

private:
    detail::context* const m_here;
    int m_count = 0;
};

}  // namespace quern
