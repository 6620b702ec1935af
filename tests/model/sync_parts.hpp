// SPDX-License-Identifier: BSL-1.0
// Shared by the models of the layer sync: a waiter whose wake-up is one store, and a spin lock,
// both on model atomics. A thread of a model stands for a task or for a thread outside: to suspend
// is to queue up and then to wait for that store.
#pragma once

#include <quern/sync/detail/notices.hpp>
#include <quern/sync/detail/ownership.hpp>

#include "protocol.hpp"

#include <cstdint>
#include <optional>

namespace model_sync {

/// A paused thread resumes when an atomic that it has read has changed: far fewer executions.
inline const model::options k_fewer{.pause = model::pause_wakes::read_set};

class spin {
public:
    void lock() noexcept {
        bool held = false;  // not an exchange: a failed one would be a change, to be explored
        while (!m_held.compare_exchange_strong(held, true, std::memory_order_acquire,
                                               std::memory_order_relaxed)) {
            model::atomics::pause();
            held = false;
        }
    }
    bool is_held() const noexcept { return m_held.load(std::memory_order_acquire); }
    void unlock() noexcept { m_held.store(false, std::memory_order_release); }

private:
    model::atomic<bool> m_held{false};
};

struct waiter;
using ownership = quern::detail::ownership<model::protocol_atomics, waiter, spin>;

/// Its members know when they are destroyed: this detects accesses to a waiter that has resumed.
struct waiter {
    explicit waiter(std::uintptr_t who = 0, ownership* o = nullptr) : holder(who), wanted(o) {}

    void wake() noexcept { m_awake.store(1, std::memory_order_release); }
    void sleep() noexcept {
        while (m_awake.load(std::memory_order_acquire) == 0) {
            model::atomics::pause();
        }
    }

    model::var<waiter*> next{nullptr};
    model::var<bool> late{false};
    model::var<bool> expired{false};
    model::atomic<bool> taken{false};
    const std::uintptr_t holder;
    ownership* const wanted;

private:
    model::atomic<std::uint32_t> m_awake{0};
};

inline std::uintptr_t holder_of(unsigned thread) { return 2 * (std::uintptr_t{thread} + 1); }
inline std::uintptr_t this_holder() { return holder_of(model::this_thread()); }

inline void wake_all(waiter* first) {
    while (first != nullptr) {
        waiter* const next = first->next;
        first->wake();
        first = next;
    }
}

/// A suspension as the runtime does it: one thread publishes the waiter; another thread, once
/// woken, continues with `after`. The return from the publication and the continuation overlap.
template <class State, class Enqueue, class After>
void suspend_in_two(model::run& r, State& s, Enqueue enqueue, After after) {
    r.thread([&s, enqueue] {
        waiter& self = *s.suspended;
        if (!enqueue(s, self)) {
            self.wake();
        }
    });
    r.thread([&s, after] {
        s.suspended->sleep();
        s.suspended.reset();
        after(s);
    });
}

/// A wait with a limit as the runtime does it: one thread waits, another one is its timer, which
/// may fire at any moment after it has been set. The waiter lives until both have ended.
class limited_wait {
public:
    explicit limited_wait(std::uintptr_t holder = 0, ownership* wanted = nullptr) {
        m_self.emplace(holder, wanted);
    }

    waiter& self() { return *m_self; }

    /// `enqueue(waiter)` as in a publication. True: the waiter was woken by its event.
    template <class Enqueue>
    bool wait(Enqueue enqueue) {
        return enqueue(*m_self) ? end() : finish();
    }
    /// The second half of wait(), for a waiter that is queued before the threads begin.
    bool end() {
        m_self->sleep();
        return finish();
    }

    /// `withdraw(waiter)` as in the production code: it wakes the waiter that it has withdrawn.
    template <class Withdraw>
    void ring(Withdraw withdraw) {
        if (!withdraw(*m_self)) {
            m_rung.store(1, std::memory_order_release);
        }
    }

private:
    bool finish() {
        if (!m_self->expired || m_self->late) {
            while (m_rung.load(std::memory_order_acquire) == 0) {
                model::atomics::pause();
            }
        }
        const bool in_time = !m_self->expired;
        m_self.reset();
        return in_time;
    }

    std::optional<waiter> m_self;
    model::atomic<int> m_rung{0};
};

inline bool wake_expired(waiter& w) {
    w.wake();
    return true;
}

/// quern::mutex without its spinning.
inline void acquire(ownership& o) {
    if (!o.try_take(this_holder())) {
        waiter self(this_holder());
        if (o.enqueue(self)) {
            self.sleep();
        }
    }
    model::check(o.owned_by(this_holder()), "who has locked is the owner");
}

inline void release(ownership& o) {
    if (waiter* next_owner = o.give_up(this_holder())) {
        next_owner->wake();
    }
}

}  // namespace model_sync
