// SPDX-License-Identifier: BSL-1.0
// How everything in this layer waits. A waiting task, outside thread or coroutine has one `waiter`
// on its frame, which is queued until a waker takes it out and wakes it. The primitives decide
// which waiters are queued and woken; only this file decides how to sleep, for coroutines
// co_waiting.hpp. The waker must be done with the primitive before it wakes, and must not access
// the waiter afterwards: both may be destroyed. Protocol and proofs: src/sync/README.md.
#pragma once

#include <quern/base/detail/atomics.hpp>
#include <quern/base/detail/config.hpp>
#include <quern/scheduler/detail/context.hpp>
#include <quern/scheduler/detail/external_event.hpp>
#include <quern/task/detail/coroutine_runner.hpp>

#include <atomic>
#include <cstdint>

namespace quern::detail {

/// Identifies the caller as a holder: the running context, or an address that belongs to the
/// calling thread if it is no worker. Never 0, lowest bit 0. Stable across suspensions.
inline std::uintptr_t this_holder() noexcept {
    context* here = current_context();
    return here != nullptr ? here->holder() : this_thread_outside();
}

/// A queue entry. Lies on the waiting frame; alive until wake(). It stands for an outside thread,
/// which sleeps on the event, unless stands_for() was called.
struct waiter {
    waiter() noexcept : suspended(nullptr) {}

    /// For a task that has left its stack, or a coroutine. Called before it is queued.
    void stands_for(context& left) noexcept {
        kind = sleeper::task;
        suspended = &left;
    }
    void stands_for(suspended_coroutine& left) noexcept {
        kind = sleeper::coroutine;
        coroutine = &left;
    }

    /// Resumes it. Called once, by the thread that took it out of its queue. It may be destroyed
    /// when this returns.
    void wake() noexcept {
        if (kind == sleeper::task) {
            resume(*suspended);
        } else if (kind == sleeper::thread) {
            event.set();
        } else {
            coroutine->resume();
        }
    }

    enum class sleeper : std::uint8_t { thread, task, coroutine };

    waiter* next = nullptr;  ///< link of its queue
    union {
        context* suspended;
        suspended_coroutine* coroutine;
    };
    external_event event;
    sleeper kind = sleeper::thread;
    /// For a wait with a deadline; both under the lock of the primitive. late: the deadline passed
    /// before it was queued. expired: it resumes because the deadline passed.
    bool late = false;
    bool expired = false;
};

/// A waiter for ownership: it is the holder when it is woken.
struct claimant : waiter {
    explicit claimant(std::uintptr_t who) noexcept : holder(who) {}
    const std::uintptr_t holder;
};

/// Makes the caller wait until `self` is woken. `enqueue()` puts `self` into a queue, or returns
/// false if no wait is needed any more. In a task it runs after the stack has been left, on the
/// same worker but in another context. Once it has published `self`, it must not touch the
/// primitive or the caller's frame: both may be destroyed.
template <class Enqueue>
void wait_in(waiter& self, const wait_reason& why, Enqueue&& enqueue) noexcept {
    if (current_context() != nullptr) {
        auto publish = [&self, &enqueue](context& left) {
            self.stands_for(left);
            return enqueue();
        };
        detail::suspend(publish, why);
    } else if (enqueue()) {
        self.event.wait(why);
    }
}

/// Wakes a chain that was taken out of its queue, in order.
inline void wake_all(waiter* first) noexcept {
    while (first != nullptr) {
        waiter* const next = first->next;
        first->wake();
        first = next;
    }
}

/// Aborts with words if a waiter of the chain can still resume.
QUERN_COLD void refuse_waiters(const waiter& first, const char* what) noexcept;

/// For the destructor of a primitive: the program is aborted if a task, coroutine or thread still
/// waits in it, because it would access freed memory. Those that the end of their runtime has
/// abandoned do not count: they never resume. `first`: its queue, or null; `what`: "a mutex".
inline void refuse_if_awaited(const waiter* first, const char* what) noexcept {
    if (first != nullptr) [[unlikely]] {
        detail::refuse_waiters(*first, what);
    }
}

/// A FIFO queue. Under a lock of the primitive, except looks_empty(). `next` of a waiter may point
/// to its base class.
template <class Atomics, class Waiter>
class wait_queue {
public:
    /// Also without the lock; then it sees at least what happens before the call.
    bool looks_empty() const noexcept { return m_first.load(k_relaxed) == nullptr; }

    /// As looks_empty(). If the last waiter has withdrawn, its earlier effects are visible.
    bool looks_deserted() const noexcept {
        return m_first.load(std::memory_order_acquire) == nullptr;  // pairs with withdraw_if
    }

    void push(Waiter& w) noexcept {
        w.next = nullptr;
        if (m_first.load(k_relaxed) == nullptr) {
            m_first.store(&w, k_relaxed);
        } else {
            static_cast<Waiter*>(m_last)->next = &w;
        }
        m_last = &w;
    }

    /// Requires: not empty.
    Waiter& pop() noexcept {
        Waiter& w = *m_first.load(k_relaxed);
        m_first.store(static_cast<Waiter*>(w.next), k_relaxed);
        return w;
    }

    /// The longest waiter, or null.
    Waiter* front() const noexcept { return m_first.load(k_relaxed); }

    /// Takes out the waiters at the front for which `may_go(w)` is true, as a chain, up to the
    /// first for which it is false.
    template <class Predicate>
    Waiter* pop_while(Predicate may_go) noexcept {
        Waiter* const first = m_first.load(k_relaxed);
        Waiter* last = nullptr;
        Waiter* w = first;
        for (; w != nullptr && may_go(*w); w = after(*w)) {
            last = w;
        }
        if (last == nullptr) {
            return nullptr;
        }
        last->next = nullptr;
        m_first.store(w, k_relaxed);
        return first;
    }

    /// Inserts in order: before the first waiter that `w` precedes. One comparison if it precedes
    /// none.
    template <class Precedes>
    void insert(Waiter& w, Precedes precedes) noexcept {
        Waiter* at = m_first.load(k_relaxed);
        if (at == nullptr || !precedes(w, *static_cast<Waiter*>(m_last))) {
            push(w);
        } else if (precedes(w, *at)) {
            w.next = at;
            m_first.store(&w, k_relaxed);
        } else {
            while (!precedes(w, *after(*at))) {
                at = after(*at);
            }
            w.next = at->next;
            at->next = &w;
        }
    }

    /// Removes a waiter whose deadline has passed. False: it was taken out before, or is not queued
    /// yet and now marked late. Cost: one step per waiter before it.
    bool withdraw(Waiter& w) noexcept {
        return withdraw_if(w, [] { return true; });
    }

    /// As above, but a queued waiter stays if `may_go()` is false.
    template <class Predicate>
    bool withdraw_if(Waiter& w, Predicate may_go) noexcept {
        Waiter* before = nullptr;
        Waiter* at = m_first.load(k_relaxed);
        while (at != nullptr && at != &w) {
            before = at;
            at = after(*at);
        }
        if (at == nullptr) {
            w.late = true;
            return false;
        }
        if (!may_go()) {
            return false;
        }
        if (before == nullptr) {
            m_first.store(after(w), std::memory_order_release);  // pairs with looks_deserted
        } else {
            before->next = w.next;
        }
        if (m_last == &w) {
            m_last = before;
        }
        w.expired = true;
        return true;
    }

    /// Takes out all, as a chain.
    Waiter* take_all() noexcept {
        Waiter* const all = m_first.load(k_relaxed);
        m_first.store(nullptr, k_relaxed);
        return all;
    }

private:
    static constexpr auto k_relaxed = std::memory_order_relaxed;

    static Waiter* after(Waiter& w) noexcept { return static_cast<Waiter*>(w.next); }

    typename Atomics::template atomic<Waiter*> m_first{nullptr};
    typename Atomics::template plain<Waiter*> m_last{nullptr};  ///< meaningless when empty
};

}  // namespace quern::detail
