// SPDX-License-Identifier: BSL-1.0
// future and shared_future: results that may not be ready yet. Waiting suspends the task, never its
// worker; a thread that is no worker sleeps. Names and semantics as in the C++ standard, with
// `then` and unwrapping as in the Concurrency TS and HPX.
#pragma once

#include <quern/task/attributes.hpp>
#include <quern/task/detail/shared_state.hpp>

#include <chrono>
#include <future>  // future_error, future_errc, future_status
#include <stop_token>
#include <type_traits>
#include <utility>

namespace quern {

template <class T>
class future;
template <class T>
class shared_future;

namespace detail {

/// What co_wait() returns; await.hpp has its co_await.
struct [[nodiscard]] wait_until_stop {
    state_base& state;
    std::stop_token stop;
};

template <class T>
struct is_future : std::false_type {};
template <class T>
struct is_future<future<T>> : std::true_type {};
template <class T>
struct is_future<shared_future<T>> : std::true_type {};

template <class T>
inline constexpr bool is_future_v = is_future<std::remove_cvref_t<T>>::value;

template <class T>
class future_base {
public:
    using state_type = shared_state<T>;

    /// Whether it refers to a result.
    bool valid() const noexcept { return static_cast<bool>(m_state); }

    /// Whether get() would return at once. Requires: valid.
    bool is_ready() const { return state().ready(); }
    /// Whether get() would throw what the producer threw. Requires: ready.
    bool has_exception() const { return is_ready() && state().failed(); }

    /// Waits until the result is ready.
    void wait() const {
        const own_work waiting(overhead_clock::part::running);
        state().wait();
    }

    /// Waits with a deadline: future_status::ready or timeout. Unlike in the standard, a deferred
    /// task is started, so its future never reports `deferred`. If the deadline has passed, the
    /// call only checks, and a task yields, so that polling does not block the worker needed by the
    /// producer. Cost: one allocation, freed at the end of the wait, and a timer.
    template <class Clock, class Duration>
    std::future_status wait_until(const std::chrono::time_point<Clock, Duration>& when) const {
        const auto wait = [this](timer::clock::time_point t) { return state().wait_until(t); };
        return detail::wait_on_clock(when, wait) ? std::future_status::ready
                                                 : std::future_status::timeout;
    }
    template <class Rep, class Period>
    std::future_status wait_for(const std::chrono::duration<Rep, Period>& time) const {
        return wait_until(detail::due_after(time));
    }

    /// Waits until the result is ready or `stop` is requested, or a deadline passes too. Returns
    /// whether it is ready: false only if one of these came first; the future is unchanged then,
    /// and its task continues. A result that is there is reported also after a request. The waiter
    /// leaves the future, which keeps nothing of it. As wait_until(), a deferred task is started.
    /// Requires: no callback of the same stop source suspends its task, since std::stop_callback
    /// identifies the requester by its thread. Cost: as wait_until(); without a deadline no timer.
    ///
    ///     quern::jthread shown([&](std::stop_token stop) {
    ///         if (answer.wait(stop)) show();
    ///     });
    bool wait(const std::stop_token& stop) const {
        return state().wait_until({stop, timer::clock::time_point::max()});
    }
    template <class Clock, class Duration>
    bool wait_until(const std::stop_token& stop,
                    const std::chrono::time_point<Clock, Duration>& when) const {
        return detail::wait_on_clock(
            stop, when, [this](const stop_or_time& limit) { return state().wait_until(limit); });
    }
    template <class Rep, class Period>
    bool wait_for(const std::stop_token& stop,
                  const std::chrono::duration<Rep, Period>& time) const {
        return wait_until(stop, detail::due_after(time));
    }

    /// wait(stop) for coroutines: `if (co_await f.co_wait(stop)) use(f.get());` suspends the
    /// coroutine as co_await of a future does (await.hpp). Requires: the future exists until then.
    /// Cost: no allocation; about 210 bytes in the frame.
    wait_until_stop co_wait(std::stop_token stop) const { return {state(), std::move(stop)}; }

    /// For the runtime's own combinators.
    state_type& state() const {
        if (!m_state) {
            throw std::future_error(std::future_errc::no_state);
        }
        return *m_state.get();
    }

protected:
    future_base() noexcept = default;
    explicit future_base(state_ref<state_type> state) noexcept : m_state(std::move(state)) {}

    state_ref<state_type> m_state;
};

template <class T>
decltype(auto) unstore(stored_result<T>& value) {
    if constexpr (std::is_void_v<T>) {
        return;
    } else if constexpr (std::is_reference_v<T>) {
        return static_cast<T>(*value);
    } else {
        return (value);
    }
}

template <class Future, class F>
auto attach(const task_attributes& how, Future source, F&& f);
template <class T>
state_ref<shared_state<T>> flatten(future<future<T>>&& nested);

}  // namespace detail

/// The result of a task, read once. Movable.
///
/// Thread safety: one object must not be used by two threads at once; different objects may.
/// Cost: a future and its task are one allocation.
template <class T>
class [[nodiscard]] future : public detail::future_base<T> {
    using base = detail::future_base<T>;

public:
    future() noexcept = default;
    future(future&&) noexcept = default;
    future& operator=(future&&) noexcept = default;

    /// Also waits for the inner result.
    future(future<future<T>>&& nested) : base(detail::flatten(std::move(nested))) {}

    explicit future(detail::state_ref<detail::shared_state<T>> state) noexcept
        : base(std::move(state)) {}

    /// Waits, then moves the result out or throws the task's exception. The future is invalid
    /// afterwards. Throws std::future_error(no_state) if it is invalid already.
    T get() {
        const detail::own_work waiting(detail::overhead_clock::part::running);
        const auto state = std::move(*this).release();
        state->wait(base::state_type::sharing::producer);
        if constexpr (std::is_void_v<T>) {
            state->value();
        } else if constexpr (std::is_reference_v<T>) {
            return static_cast<T>(*state->value());
        } else {
            return std::move(state->value());
        }
    }

    /// Converts to a copyable future; this one is invalid afterwards.
    shared_future<T> share() noexcept { return shared_future<T>(std::move(*this)); }

    /// When the result is ready, calls f(this future) in a task of its own, or as `how` says.
    /// Returns the future of f's result. This one is invalid afterwards.
    ///
    ///     auto tree = quern::async(parse, file);
    ///     auto valid = tree.then([](auto ready) { return check(ready.get()); });
    template <class F>
    QUERN_ALWAYS_INLINE auto then(F&& f) {
        return then(task_attributes{}, std::forward<F>(f));
    }
    template <class F>
    QUERN_ALWAYS_INLINE auto then(launch how, F&& f) {
        return then(task_attributes{.how = how}, std::forward<F>(f));
    }
    template <class F>
    QUERN_ALWAYS_INLINE auto then(const task_attributes& how, F&& f) {
        this->state();  // throws if there is none
        static_assert(std::is_invocable_v<std::decay_t<F>&, future>,
                      "quern: then: the function must take the future itself, by value, by const "
                      "reference or as auto; its value is what get() gives");
        if constexpr (std::is_invocable_v<std::decay_t<F>&, future>) {
            return detail::attach(detail::made_at(detail::code_address(), how), std::move(*this),
                                  std::forward<F>(f));
        } else {
            return future<void>();
        }
    }

    /// For the runtime's own combinators: releases the state, if there is one.
    detail::state_ref<detail::shared_state<T>> take_state() && noexcept {
        return std::move(this->m_state);
    }
    /// As above; throws std::future_error(no_state) if there is none.
    detail::state_ref<detail::shared_state<T>> release() && {
        this->state();
        return std::move(this->m_state);
    }
};

/// The result of a task, for any number of readers. Copyable.
template <class T>
class [[nodiscard]] shared_future : public detail::future_base<T> {
    using base = detail::future_base<T>;

public:
    shared_future() noexcept = default;
    shared_future(future<T>&& unique) noexcept : base(std::move(unique).take_state()) {}

    /// Waits, then returns the result by reference to const, or throws the task's exception.
    decltype(auto) get() const {
        this->wait();
        if constexpr (std::is_void_v<T>) {
            this->state().value();
        } else if constexpr (std::is_reference_v<T>) {
            return static_cast<T>(*this->state().value());
        } else {
            return static_cast<const T&>(this->state().value());
        }
    }

    /// As future::then; this one stays valid.
    template <class F>
    QUERN_ALWAYS_INLINE auto then(F&& f) const {
        return then(task_attributes{}, std::forward<F>(f));
    }
    template <class F>
    QUERN_ALWAYS_INLINE auto then(launch how, F&& f) const {
        return then(task_attributes{.how = how}, std::forward<F>(f));
    }
    template <class F>
    QUERN_ALWAYS_INLINE auto then(const task_attributes& how, F&& f) const {
        this->state();
        static_assert(std::is_invocable_v<std::decay_t<F>&, shared_future>,
                      "quern: then: the function must take the shared_future itself, by value, by "
                      "const reference or as auto; its value is what get() gives");
        if constexpr (std::is_invocable_v<std::decay_t<F>&, shared_future>) {
            return detail::attach(detail::made_at(detail::code_address(), how), *this,
                                  std::forward<F>(f));
        } else {
            return future<void>();
        }
    }
};

}  // namespace quern

#include <quern/task/detail/continuation.hpp>  // attach, flatten
