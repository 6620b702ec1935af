// SPDX-License-Identifier: BSL-1.0
// How coroutines wait for the primitives of this layer: without a stack, with a waiter in their
// frame that is also the item to resume. Correctness: src/sync/README.md, "Coroutines".
#pragma once

#include <quern/sync/detail/waiting.hpp>

#include <coroutine>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <utility>

namespace quern::detail {

/// Waits in the frame of a coroutine. `Operation` provides:
///
/// - `make_waiter()`: the waiter to queue; `why()`: the reason, for reports.
/// - `ready(self)`: true if it succeeded without waiting. May throw.
/// - `enqueue(self)`: as in wait_in(); false if no wait is needed any more. Once it has published
///   the waiter, it must not touch anything, since the operation lies in the frame too. Effects
///   that require the wait (an arrival) belong here: this is not called if the coroutine cannot
///   wait.
/// - `result(self)`: the result of co_await. Runs in the coroutine; may throw.
template <class Operation>
class co_awaiter final : public suspended_coroutine {
public:
    explicit co_awaiter(Operation&& what)
        : m_operation(std::move(what)), m_self(m_operation.make_waiter()) {}

    bool await_ready() { return m_operation.ready(m_self); }

    /// False: the coroutine continues at once. True: it may already run elsewhere or be destroyed
    /// when this returns.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> waiting) {
        leave(waiting, m_operation.why());
        m_self.stands_for(*this);
        const bool suspended = m_operation.enqueue(m_self);
        if (!suspended) {
            stay();
        }
        return suspended;
    }

    decltype(auto) await_resume() { return m_operation.result(m_self); }

private:
    Operation m_operation;
    decltype(std::declval<Operation&>().make_waiter()) m_self;
};

/// The same until a stop is requested. `Operation` also provides `withdraw(self)`: takes the waiter
/// out of its queue and wakes it, or marks it late, as in src/sync/README.md, "Limits"; its
/// `enqueue(self)` does not queue a waiter that is late, and its `result(self)` reads `expired`.
template <class Operation>
class stoppable_co_awaiter final : public suspended_coroutine {
public:
    stoppable_co_awaiter(Operation&& what, std::stop_token&& stop)
        : m_operation(std::move(what)),
          m_self(m_operation.make_waiter()),
          m_stop(std::move(stop)) {}

    bool await_ready() {
        if (m_operation.ready(m_self)) {
            return true;
        }
        m_self.expired = m_stop.stop_requested();
        return m_self.expired;
    }

    /// As that of co_awaiter. The callback exists before the waiter is queued.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> waiting) {
        leave(waiting, m_operation.why());
        m_self.stands_for(*this);
        m_on_stop.emplace(m_stop, stopped{*this});
        const bool suspended = m_operation.enqueue(m_self);
        if (!suspended) {
            stay();
        }
        return suspended;
    }

    decltype(auto) await_resume() {
        m_on_stop.reset();  // returns when the callback no longer accesses the frame
        return m_operation.result(m_self);
    }

private:
    struct stopped {
        void operator()() const noexcept { self.m_operation.withdraw(self.m_self); }
        stoppable_co_awaiter& self;
    };

    Operation m_operation;
    decltype(std::declval<Operation&>().make_waiter()) m_self;
    const std::stop_token m_stop;
    std::optional<std::stop_callback<stopped>> m_on_stop;
};

/// For withdraw() of the operations: wakes the waiter if it was taken out.
inline void wake_if(bool has_left, waiter& self) noexcept {
    if (has_left) {
        self.wake();
    }
}

/// Identifies the running coroutine in the word of a lock.
inline std::uintptr_t this_coroutine() noexcept { return coroutine_root::holder(running_signal()); }

/// The result of a co_ member, to be awaited once. The waiter is created only then, so this can be
/// moved, as other coroutine libraries do.
template <class Operation>
struct [[nodiscard]] co_awaitable {
    auto operator co_await() { return co_awaiter<Operation>(std::move(operation)); }

    Operation operation;
};

/// The result of a co_ member with a stop token.
template <class Operation>
struct [[nodiscard]] co_stoppable {
    auto operator co_await() {
        return stoppable_co_awaiter<Operation>(std::move(operation), std::move(stop));
    }

    Operation operation;
    std::stop_token stop;
};

}  // namespace quern::detail
