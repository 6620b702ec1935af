// SPDX-License-Identifier: BSL-1.0
// How everything in this layer waits: one `waiter` on the frame of the one who waits, a task, a
// thread outside or a coroutine, which stands in a queue until somebody takes it out and wakes it.
// The primitives decide who is queued and woken; how to sleep is decided here alone, and for
// coroutines in co_waiting.hpp. Protocol and proofs: src/sync/README.md. Whoever wakes must have
// finished with the primitive and must not look at the waiter afterwards: both may be gone.
#pragma once

#include <quern/base/atomics.hpp>
#include <quern/scheduler/context.hpp>
#include <quern/scheduler/external_event.hpp>
#include <quern/task/coroutine_runner.hpp>

#include <atomic>
#include <cstdint>

namespace quern::detail {

/// Who holds something: the running context, or an address that belongs to the calling thread when
/// it is no worker. Never 0, lowest bit 0. The same before and after a suspension.
inline std::uintptr_t this_holder() noexcept {
    context* here = current_context();
    return here != nullptr ? here->holder() : this_thread_outside();
}

/// One that waits. Lies on its frame; alive until wake(). A thread outside, which sleeps on the
/// event, unless it has been said for whom it stands.
struct waiter {
    waiter() noexcept : suspended(nullptr) {}

    /// For the task that has left that stack, or for that coroutine. Before it is queued.
    void stands_for(context& left) noexcept {
        kind = sleeper::task;
        suspended = &left;
    }
    void stands_for(suspended_coroutine& left) noexcept {
        kind = sleeper::coroutine;
        coroutine = &left;
    }

    /// Lets it go on. Called once, by the one who took it out of its queue; it may be gone then.
    void wake() noexcept {
        if (kind == sleeper::task) {
            resume(*suspended);
        } else if (kind == sleeper::thread) {
            event.set();
        } else {
            coroutine->go_on();
        }
    }

    enum class sleeper : std::uint8_t { thread, task, coroutine };

    waiter* next = nullptr;  ///< link of the queue that holds it
    union {
        context* suspended;
        suspended_coroutine* coroutine;
    };
    external_event event;
    sleeper kind = sleeper::thread;
    /// Of a wait with a limit, both under the lock of the primitive: the limit has passed while it
    /// was in no queue; it goes on because the limit has passed.
    bool late = false;
    bool expired = false;
};

/// One that waits for something that has a holder, and will be the holder when it is woken.
struct claimant : waiter {
    explicit claimant(std::uintptr_t who) noexcept : holder(who) {}
    const std::uintptr_t holder;
};

/// Makes the caller wait until `self` is woken. `enqueue()` puts `self` where a waker finds it, or
/// returns false when there is nothing to wait for any more. In a task it runs after the stack has
/// been left, on the same worker but in another context; once it has made `self` known it must
/// touch neither the primitive nor what lies on the caller's frame, for both may be gone.
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

/// Wakes a chain that has been taken out of its queue, the first one first.
inline void wake_all(waiter* first) noexcept {
    while (first != nullptr) {
        waiter* const next = first->next;
        first->wake();
        first = next;
    }
}

/// First in, first out. Under a lock of the primitive, but for looks_empty(). `next` of a waiter
/// may point to a base of it.
template <class Atomics, class Waiter>
class wait_queue {
public:
    /// Also without the lock; then it sees whatever happens before the call, and perhaps more.
    bool looks_empty() const noexcept { return m_first.load(k_relaxed) == nullptr; }

    /// The same, and if the last one has withdrawn then what it did before is seen.
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

    /// The one that has waited longest, or null.
    Waiter* front() const noexcept { return m_first.load(k_relaxed); }

    /// Takes out those at the front for which `may_go(w)` is true, as a chain; ends with the first
    /// for which it is not.
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

    /// Puts it before the first of those that it precedes, which must be those at the end. One look
    /// if it precedes nobody.
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

    /// Takes out one whose limit has passed. False: it has been taken out, or has yet to be put in
    /// and is late then. Cost: a step for each that stands before it.
    bool withdraw(Waiter& w) noexcept {
        return withdraw_if(w, [] { return true; });
    }

    /// The same, but leaves it in the queue if `may_go()` is false, which is called if it is there.
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

    /// Takes all, as a chain.
    Waiter* take_all() noexcept {
        Waiter* const all = m_first.load(k_relaxed);
        m_first.store(nullptr, k_relaxed);
        return all;
    }

private:
    static constexpr auto k_relaxed = std::memory_order_relaxed;

    static Waiter* after(Waiter& w) noexcept { return static_cast<Waiter*>(w.next); }

    typename Atomics::template atomic<Waiter*> m_first{nullptr};
    typename Atomics::template plain<Waiter*> m_last{nullptr};  ///< not meaningful when empty
};

}  // namespace quern::detail
