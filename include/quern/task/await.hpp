// SPDX-License-Identifier: BSL-1.0
// co_await on future and shared_future in any coroutine, and on foreign awaitables in a
// quern::task. Included by coroutine.hpp.
#pragma once

#include <quern/task/detail/coroutine_runner.hpp>
#include <quern/task/future.hpp>

#include <atomic>
#include <coroutine>
#include <optional>
#include <stop_token>
#include <utility>

namespace quern::detail {

/// Waits for a future in the frame of a coroutine.
template <class Future>
class future_awaiter final : public suspended_coroutine, state_waiter {
public:
    explicit future_awaiter(Future source) noexcept
        : state_waiter{told}, m_source(std::move(source)) {}

    bool await_ready() const { return m_source.is_ready(); }

    /// False: the result has arrived meanwhile. True: the coroutine may already run elsewhere or be
    /// destroyed when this returns.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> waiting) {
        leave(waiting, {&state_base::k_wait, &static_cast<const state_base&>(m_source.state())});
        const bool suspended = m_source.state().add_waiter(*this);
        if (!suspended) {
            stay();
        }
        return suspended;
    }

    decltype(auto) await_resume() { return m_source.get(); }

private:
    static state_waiter* told(state_waiter& w) noexcept {
        static_cast<future_awaiter&>(w).resume();
        return nullptr;
    }

    Future m_source;
};

/// Waits for a state, or until a stop is requested, in the frame of a coroutine. The state and the
/// stop callback may come before await_suspend() has made both known to this, so the coroutine is
/// resumed by the second of two: the event that ends the wait, and the end of await_suspend().
class stoppable_future_awaiter final : public suspended_coroutine, leaving_waiter {
public:
    explicit stoppable_future_awaiter(wait_until_stop&& what) noexcept
        : leaving_waiter(told), m_state(what.state), m_stop(std::move(what.stop)) {}

    bool await_ready() const noexcept { return m_state.ready() || m_stop.stop_requested(); }

    /// As that of future_awaiter.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> waiting) {
        leave(waiting, {&state_base::k_wait, &m_state});
        if (!m_state.add_waiter(*this)) {
            stay();
            return false;
        }
        m_on_stop.emplace(m_stop, stopped{*this});
        if (came_second()) {
            stay();
            return false;
        }
        return true;
    }

    /// Whether the result is ready.
    bool await_resume() noexcept {
        m_on_stop.reset();  // returns when the callback no longer accesses the frame
        return m_state.ready();
    }

private:
    struct stopped {
        void operator()() const noexcept {
            if (self.m_state.remove_waiter(self)) {
                self.end();
            }
        }
        stoppable_future_awaiter& self;
    };

    static state_waiter* told(state_waiter& w) noexcept {
        static_cast<stoppable_future_awaiter&>(w).end();
        return nullptr;
    }
    void end() noexcept {
        if (came_second()) {
            resume();
        }
    }
    /// The first one to call this must not access the frame afterwards.
    bool came_second() noexcept {
        return m_one_came.exchange(true, std::memory_order_acq_rel);  // pairs with itself
    }

    state_base& m_state;
    const std::stop_token m_stop;
    std::optional<std::stop_callback<stopped>> m_on_stop;
    std::atomic<bool> m_one_came{false};
};

inline auto operator co_await(wait_until_stop&& awaited) noexcept {
    return stoppable_future_awaiter(std::move(awaited));
}

/// Wraps an awaitable that does not know runners: it resumes the coroutine without a runner. It may
/// do so before its await_suspend() has returned.
template <class Awaiter>
struct foreign_awaiter {
    Awaiter inner;

    decltype(auto) await_ready() { return inner.await_ready(); }

    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> waiting) {
        coroutine_runner* const here = std::exchange(waiting.promise().runner, nullptr);
        if (here != nullptr) {
            here->let_go();
        }
        bool suspended = false;
        try {
            suspended = suspend(waiting, here);
        } catch (...) {
            stay(waiting, here);
            throw;
        }
        if (!suspended) {
            stay(waiting, here);
        }
        return suspended;
    }

    decltype(auto) await_resume() { return inner.await_resume(); }

private:
    template <class Handle>
    static void stay(Handle waiting, coroutine_runner* here) noexcept {
        waiting.promise().runner = here;
        if (here != nullptr) {
            here->take_up();
        }
    }

    template <class Handle>
    bool suspend(Handle waiting, coroutine_runner* here) {
        using answer = decltype(inner.await_suspend(waiting));
        if constexpr (std::is_void_v<answer>) {
            inner.await_suspend(waiting);
            return true;
        } else if constexpr (std::is_same_v<answer, bool>) {
            return inner.await_suspend(waiting);
        } else {
            const std::coroutine_handle<> next = inner.await_suspend(waiting);
            if (next == waiting) {
                return false;
            }
            if (here != nullptr) {
                here->run_next(next);
            } else {
                next.resume();
            }
            return true;
        }
    }
};

template <class Awaitable>
decltype(auto) awaiter_of(Awaitable&& awaitable) {
    if constexpr (requires { std::forward<Awaitable>(awaitable).operator co_await(); }) {
        return std::forward<Awaitable>(awaitable).operator co_await();
    } else if constexpr (requires { operator co_await(std::forward<Awaitable>(awaitable)); }) {
        return operator co_await(std::forward<Awaitable>(awaitable));
    } else {
        return std::forward<Awaitable>(awaitable);
    }
}

/// The awaiter that a quern::task uses for an awaitable.
template <class Awaitable>
decltype(auto) know_runner(Awaitable&& awaitable) {
    using awaiter = decltype(detail::awaiter_of(std::forward<Awaitable>(awaitable)));
    if constexpr (requires { typename awaiter::sets_runner; }) {
        return detail::awaiter_of(std::forward<Awaitable>(awaitable));
    } else {
        return foreign_awaiter<awaiter>{detail::awaiter_of(std::forward<Awaitable>(awaitable))};
    }
}

}  // namespace quern::detail

namespace quern {

/// Suspends the coroutine until the result is ready; its worker runs other work meanwhile. Gives
/// what get() gives: the value moved out, or the exception thrown. The future is invalid
/// afterwards. Works in any coroutine, of quern::task or of another library.
///
/// The coroutine is resumed as a ready item of the pool whose worker awaited, on any worker. The
/// thread may differ, so do not hold anything thread-bound across the await (a std::mutex, a
/// reference to a thread_local), nor a mutex of this library taken by lock() (co_lock is allowed).
/// A thread that is no worker continues itself only if the result is ready at once. Otherwise the
/// coroutine is resumed in the first pool of the default runtime, and the thread returns to the
/// code that had resumed the coroutine.
///
/// A coroutine that still waits when its runtime ends is abandoned like a task: it is never
/// resumed.
///
/// Errors: those of get(); std::future_error(no_state) without suspension when there is no state.
/// Cost: no allocation; the waiter lies in the coroutine's frame (about 100 bytes). One load if the
/// result is ready, else a compare-exchange and one pass through the ready queue.
///
///     quern::task<int> sum(quern::future<int> a, quern::future<int> b) {
///         co_return co_await std::move(a) + co_await std::move(b);
///     }
template <class T>
auto operator co_await(future<T>&& awaited) noexcept {
    return detail::future_awaiter<future<T>>(std::move(awaited));
}
template <class T>
auto operator co_await(future<T>& awaited) noexcept {
    return detail::future_awaiter<future<T>>(std::move(awaited));
}

/// As above, but the result is a reference to const, valid as long as a shared_future of the state
/// exists. The awaited shared_future stays valid.
template <class T>
auto operator co_await(shared_future<T> awaited) noexcept {
    return detail::future_awaiter<shared_future<T>>(std::move(awaited));
}

}  // namespace quern
