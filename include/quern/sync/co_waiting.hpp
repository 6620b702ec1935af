// SPDX-License-Identifier: BSL-1.0
// How coroutines wait for what is in this layer: without a stack, with a waiter in their frame that
// is also the item which resumes them. Why it is as safe as that of a task: src/sync/README.md,
// "Coroutines".
#pragma once

#include <quern/sync/waiting.hpp>

#include <coroutine>
#include <cstdint>
#include <utility>

namespace quern::detail {

/// Waits in the frame of a coroutine. `Operation` says for what:
///
/// - `make_waiter()`: what is to be queued; `why()`: for what, for reports.
/// - `ready(self)`: true when it has been had without waiting. May throw.
/// - `enqueue(self)`: that of wait_in(): false when there is nothing to wait for any more; once it
///   has made the waiter known it must touch nothing, for the operation lies in the frame too. An
///   effect that must not happen without the wait (an arrival) belongs here: if the coroutine
///   cannot wait, this is not called.
/// - `result(self)`: what co_await gives. Runs in the coroutine; may throw.
template <class Operation>
class co_awaiter final : public suspended_coroutine {
public:
    explicit co_awaiter(Operation&& what)
        : m_operation(std::move(what)), m_self(m_operation.make_waiter()) {}

    bool await_ready() { return m_operation.ready(m_self); }

    /// False: it goes on at once. Else the coroutine may be running elsewhere, or be gone, when
    /// this returns.
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

/// Stands for the coroutine that runs here in the word of a lock.
inline std::uintptr_t this_coroutine() noexcept { return coroutine_root::holder(running_signal()); }

/// What a co_ member returns, to be awaited once. The waiter is made only then, so that this can be
/// moved, as machineries of other libraries do.
template <class Operation>
struct [[nodiscard]] co_awaitable {
    auto operator co_await() { return co_awaiter<Operation>(std::move(operation)); }

    Operation operation;
};

}  // namespace quern::detail
