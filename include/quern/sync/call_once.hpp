// SPDX-License-Identifier: BSL-1.0
// quern::call_once and once_flag: those of the standard, for tasks and outside threads. A mutex for
// the first callers, one load for all later ones.
#pragma once

#include <quern/sync/mutex.hpp>
#include <quern/task/detail/enough_stack.hpp>

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>

namespace quern {

/// The flag of call_once.
class once_flag {
public:
    constexpr once_flag() noexcept = default;
    once_flag(const once_flag&) = delete;
    once_flag& operator=(const once_flag&) = delete;
    ~once_flag() { m_trying.refuse_if_awaited(); }

private:
    template <class F, class... Args>
    friend void call_once(once_flag& flag, F&& f, Args&&... args);

    /// Held while the function runs.
    struct attempt : mutex {
        void lock() {
            if (!try_lock()) [[unlikely]] {
                lock_contended(detail::this_holder(), k_wait);
                detail::note_locked();
            }
        }
        void refuse_if_awaited() const noexcept {
            detail::refuse_if_awaited(m_owner.first_waiter(), "a once_flag");
        }
        static const detail::wait_kind k_wait;
    };

    std::atomic<bool> m_done{false};
    attempt m_trying;
};

/// Calls f(args...) unless a call with this flag has already completed normally.
///
///     quern::once_flag loaded;
///     quern::call_once(loaded, [&] { load(table); });   // in every task that needs the table
///
/// Concurrent callers wait until that call has returned; its effects happen before their return.
/// The function may suspend. If it throws, its caller gets the exception, and the longest waiter
/// calls its own function.
/// Errors: what f throws; std::system_error (resource_deadlock_would_occur) if f itself calls
/// call_once with the same flag.
/// Thread safety: any thread. Cost: one load once it is done; waiters return one after another.
template <class F, class... Args>
void call_once(once_flag& flag, F&& f, Args&&... args) {
    if (flag.m_done.load(std::memory_order_acquire)) {  // pairs with the store below
        return;
    }
    const std::scoped_lock lock(flag.m_trying);
    const ignore_held_locks may_suspend;
    if (!flag.m_done.load(std::memory_order_relaxed)) {
        detail::on_enough_stack(
            [&] { std::invoke(std::forward<F>(f), std::forward<Args>(args)...); });
        flag.m_done.store(true, std::memory_order_release);  // pairs with the first load
    }
}

}  // namespace quern
