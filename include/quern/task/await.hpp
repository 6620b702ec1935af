// SPDX-License-Identifier: BSL-1.0
// co_await on future and shared_future, in any coroutine; and how coroutines are run: by a loop
// that resumes one after the other, so that a chain of them is as deep on the stack as one.
// Included by coroutine.hpp.
#pragma once

#include <quern/base/blocks.hpp>
#include <quern/task/future.hpp>
#include <quern/task/stop.hpp>

#include <coroutine>
#include <utility>

namespace quern::detail {

class coroutine_runner;

/// Told when a quern::task has ended and its frame is suspended for good. Lies in the frame of the
/// coroutine that awaits the task, or in the state of the future that start() gave.
struct task_parent {
    using ended_function = void (*)(task_parent& self, coroutine_runner& here) noexcept;
    ended_function ended;
};

/// Runs coroutines one after the other. Lies on the stack of whoever runs them; a coroutine that
/// is suspended has none, and gets another one when it is resumed. That transfers control without
/// depth and without asking the compiler for tail calls, which gcc does not make below -O2.
class coroutine_runner {
public:
    coroutine_runner() noexcept = default;
    /// With the attributes of the item that runs it, for whoever resumes the coroutine later.
    explicit coroutine_runner(const runnable& item, const stop_signal* stop) noexcept
        : m_name(item.name),
          m_site(item.site),
          m_stop(stop),
          m_urgency(item.urgency),
          m_stack(item.stack) {}

    /// What is to be done as soon as the coroutine that asks for it has been left: one of the two.
    void run_next(std::coroutine_handle<> next) noexcept { m_next = next; }
    void tell_next(task_parent* parent) noexcept { m_ended = parent; }

    /// Does what was asked for, and what that asks for in turn. True: `until` would be next.
    bool run(std::coroutine_handle<> until = {}) {
        const under_signal running(m_stop);
        for (;;) {
            if (task_parent* parent = std::exchange(m_ended, nullptr)) {
                parent->ended(*parent, *this);
            }
            if (!m_next || m_next == until) {
                return static_cast<bool>(m_next);
            }
            std::exchange(m_next, {}).resume();
        }
    }

    /// Gives what the item will need to resume it; returns the signal.
    const stop_signal* lend_attributes(runnable& item) const noexcept {
        item.name = m_name;
        item.site = m_site;
        item.urgency = m_urgency;
        item.stack = m_stack;
        return m_stop;
    }

private:
    std::coroutine_handle<> m_next;
    task_parent* m_ended = nullptr;
    const char* m_name = nullptr;
    const void* m_site = nullptr;
    const stop_signal* m_stop = nullptr;
    priority m_urgency = priority::normal;
    stack_class m_stack = stack_class::small;
};

/// What the promise of every quern::task has.
struct task_promise_base {
    // Of the frame.
    static void* operator new(std::size_t bytes) { return allocate_block(bytes); }
    static void operator delete(void* frame, std::size_t bytes) noexcept {
        free_block(frame, bytes);
    }

    /// Who runs it now; null when an awaitable of somebody else has resumed it.
    coroutine_runner* runner = nullptr;
    task_parent* parent = nullptr;  ///< from the moment it is started
};

/// The promise behind a handle if it is that of a quern::task, else null.
template <class Promise>
task_promise_base* task_promise_of(std::coroutine_handle<Promise> h) noexcept {
    if constexpr (std::is_base_of_v<task_promise_base, Promise>) {
        return &h.promise();
    } else {
        return nullptr;
    }
}

/// Waits in the frame of a coroutine: waiter and ready item in one, so that nothing is allocated.
template <class Future>
class future_awaiter final : runnable, state_waiter {
public:
    using sets_runner = void;

    explicit future_awaiter(Future source) noexcept
        : runnable(resume_queued, false), state_waiter{told}, m_source(std::move(source)) {}

    bool await_ready() const { return m_source.is_ready(); }

    /// False: the result has come meanwhile. Else the coroutine may be running elsewhere, or be
    /// gone, when this returns.
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> waiting) {
        m_pool = &current_pool().get();  // may start the default runtime, and throw
        m_waiting = waiting;
        m_promise = task_promise_of(waiting);
        if (m_promise != nullptr && m_promise->runner != nullptr) {
            m_stop = m_promise->runner->lend_attributes(*this);
        }
        return m_source.state().add_waiter(*this);
    }

    decltype(auto) await_resume() { return m_source.get(); }

private:
    static state_waiter* told(state_waiter& w) noexcept {
        auto& self = static_cast<future_awaiter&>(w);
        self.m_pool->make_ready(self);
        return nullptr;
    }
    static context* resume_queued(work& item) {
        auto& self = static_cast<future_awaiter&>(static_cast<runnable&>(item));
        if (context* larger = begin_task(self)) {
            return larger;
        }
        coroutine_runner here(self, self.m_stop);
        if (self.m_promise != nullptr) {
            self.m_promise->runner = &here;
        }
        here.run_next(self.m_waiting);
        here.run();
        return nullptr;
    }

    Future m_source;
    pool* m_pool = nullptr;
    std::coroutine_handle<> m_waiting;
    task_promise_base* m_promise = nullptr;
    const stop_signal* m_stop = nullptr;  ///< lives until the coroutine has ended
};

/// Stands around an awaitable that knows nothing of runners: who resumes the coroutine is none.
template <class Awaiter>
struct foreign_awaiter {
    Awaiter inner;

    decltype(auto) await_ready() { return inner.await_ready(); }

    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> waiting) {
        coroutine_runner* const here = std::exchange(waiting.promise().runner, nullptr);
        bool suspended = false;
        try {
            suspended = suspend(waiting, here);
        } catch (...) {
            waiting.promise().runner = here;
            throw;
        }
        if (!suspended) {  // else it may be running elsewhere
            waiting.promise().runner = here;
        }
        return suspended;
    }

    decltype(auto) await_resume() { return inner.await_resume(); }

private:
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

/// What a quern::task awaits when it says co_await.
template <class Awaitable>
decltype(auto) know_runner(Awaitable&& awaitable) {
    using awaiter = decltype(awaiter_of(std::forward<Awaitable>(awaitable)));
    if constexpr (requires { typename awaiter::sets_runner; }) {
        return awaiter_of(std::forward<Awaitable>(awaitable));
    } else {
        return foreign_awaiter<awaiter>{awaiter_of(std::forward<Awaitable>(awaitable))};
    }
}

}  // namespace quern::detail

namespace quern {

/// Suspends the coroutine until the result is there; its worker goes on with other work. The result
/// is that of get(): the value moved out, or the exception thrown. The future is invalid
/// afterwards. May be used in any coroutine, of quern::task or of another library.
///
/// The coroutine goes on as a ready item of the pool whose worker awaited, on whichever worker is
/// free: it may be another thread, so nothing thread-bound (a std::mutex, a reference to a
/// thread_local) may be held across. A thread that is no worker goes on itself only when the result
/// is there already; otherwise the coroutine goes on in the first pool of the default runtime, and
/// the thread returns to whoever had resumed the coroutine.
///
/// Requires: that pool lives when the result comes, as for `then`.
///
/// Errors: those of get(); std::future_error(no_state) without suspension when there is no state.
/// Cost: no allocation; the waiter lies in the coroutine's frame (about 100 bytes). A compare-
/// exchange and a trip through the ready queue, or one load when the result is there.
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

/// The same. The result is a reference to const that stays valid while a shared_future of the state
/// does; this one stays valid.
template <class T>
auto operator co_await(shared_future<T> awaited) noexcept {
    return detail::future_awaiter<shared_future<T>>(std::move(awaited));
}

}  // namespace quern
