// SPDX-License-Identifier: BSL-1.0
// promise, packaged_task and ready futures: results whose producer is not a task.
#pragma once

#include <quern/base/detail/unique_function.hpp>
#include <quern/task/detail/enough_stack.hpp>
#include <quern/task/future.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace quern {

namespace detail {

/// The error of an abandoned promise. Allocated in advance, because a promise may be abandoned when
/// memory has run out.
const std::exception_ptr& broken_promise() noexcept;

}  // namespace detail

namespace detail {

/// The state of a promise or packaged_task, to deliver to or to abandon.
template <class T>
class producer {
public:
    /// Without a state.
    producer() noexcept = default;
    static producer make() {
        producer made;
        made.m_state = state_ref<plain_state<T>>(new plain_state<T>(1));
        return made;
    }
    producer(producer&&) noexcept = default;
    producer& operator=(producer&& other) noexcept {
        producer(std::move(other)).swap(*this);
        return *this;
    }
    ~producer() {
        if (m_state && m_state->claim()) {
            m_state->set_error(broken_promise());
        }
    }
    void swap(producer& other) noexcept { std::swap(m_state, other.m_state); }

    bool valid() const noexcept { return static_cast<bool>(m_state); }

    future<T> get_future() {
        if (!state()->retrieve()) {
            throw std::future_error(std::future_errc::future_already_retrieved);
        }
        m_state->add_reference();
        return future<T>(state_ref<shared_state<T>>(m_state.get()));
    }

    /// A reference that outlives this object, which may be destroyed as soon as the state is ready.
    state_ref<plain_state<T>> state() const {
        if (!m_state) {
            throw std::future_error(std::future_errc::no_state);
        }
        return m_state;
    }

private:
    state_ref<plain_state<T>> m_state;
};

[[noreturn]] QUERN_COLD inline void refuse_second_result() {
    throw std::future_error(std::future_errc::promise_already_satisfied);
}

}  // namespace detail

/// The producing end of a future. As std::promise.
/// Thread safety: any thread, also one that is no worker. Several threads may set the result at
/// once: one succeeds, the others get promise_already_satisfied. A thread that arrives while
/// another's value is being constructed waits for the outcome of that.
template <class T>
class promise {
    static constexpr bool k_has_object = !std::is_void_v<T> && !std::is_reference_v<T>;
    using object = std::conditional_t<k_has_object, T, detail::unit>;

public:
    promise() : m_to(detail::producer<T>::make()) {}
    promise(promise&&) noexcept = default;
    promise& operator=(promise&&) noexcept = default;

    void swap(promise& other) noexcept { m_to.swap(other.m_to); }
    friend void swap(promise& a, promise& b) noexcept { a.swap(b); }

    /// Once. Throws std::future_error(future_already_retrieved, no_state).
    future<T> get_future() { return m_to.get_future(); }

    /// Once. Throws std::future_error(promise_already_satisfied, no_state), or what the value's
    /// constructor throws; the promise is unchanged then.
    template <class... Value>
    void set_value(Value&&... value) {
        deliver([&](detail::shared_state<T>& to) {
            if constexpr (std::is_reference_v<T>) {
                to.set_value(std::addressof(value)...);
            } else {
                to.set_value(std::forward<Value>(value)...);
            }
        });
    }
    /// For a braced initialiser list.
    void set_value(object&& value) requires k_has_object {
        deliver([&](detail::shared_state<T>& to) { to.set_value(std::move(value)); });
    }
    void set_exception(std::exception_ptr error) {
        deliver([&](detail::shared_state<T>& to) { to.set_error(std::move(error)); });
    }

private:
    template <class Set>
    void deliver(Set&& set) {
        const auto to = m_to.state();
        if (!to->claim_in_turn()) {
            detail::refuse_second_result();
        }
        try {
            set(*to.get());
        } catch (...) {
            to->unclaim();
            throw;
        }
    }

    detail::producer<T> m_to;
};

/// A future that is ready. One allocation.
template <class T>
future<std::decay_t<T>> make_ready_future(T&& value) {
    promise<std::decay_t<T>> p;
    p.set_value(std::forward<T>(value));
    return p.get_future();
}
inline future<void> make_ready_future() {
    promise<void> p;
    p.set_value();
    return p.get_future();
}

/// A future that throws at get().
template <class T>
future<T> make_exceptional_future(std::exception_ptr error) {
    promise<T> p;
    p.set_exception(std::move(error));
    return p.get_future();
}

template <class Signature>
class packaged_task;

/// A function whose call delivers a future. As std::packaged_task.
/// Thread safety: as promise; of several concurrent calls, one calls the function.
template <class R, class... Args>
class packaged_task<R(Args...)> {
public:
    packaged_task() noexcept = default;

    template <class F>
        requires(!std::is_same_v<std::remove_cvref_t<F>, packaged_task>)
    explicit packaged_task(F&& f)
        : m_function(std::forward<F>(f)), m_to(detail::producer<R>::make()) {}

    void swap(packaged_task& other) noexcept {
        std::swap(m_function, other.m_function);
        m_to.swap(other.m_to);
    }
    friend void swap(packaged_task& a, packaged_task& b) noexcept { a.swap(b); }

    bool valid() const noexcept { return m_to.valid(); }
    future<R> get_future() { return m_to.get_future(); }

    /// Once. The future holds what the function throws.
    void operator()(Args... args) {
        const auto to = m_to.state();
        if (!to->claim()) {
            detail::refuse_second_result();
        }
        to->set_from([&]() -> R {
            return detail::on_enough_stack(
                [&]() -> R { return m_function(std::forward<Args>(args)...); });
        });
    }

    /// Starts over: another call may deliver another result to another future. An undelivered
    /// result is abandoned. Throws std::future_error(no_state), std::bad_alloc.
    void reset() {
        m_to.state();
        m_to = detail::producer<R>::make();
    }

private:
    detail::unique_function<R(Args...)> m_function;
    detail::producer<R> m_to;
};

namespace detail {

/// The signature of a member function without its class, R(Args...).
template <class Member>
struct call_signature;
template <class R, class C, class... Args, bool IsNoexcept>
struct call_signature<R (C::*)(Args...) noexcept(IsNoexcept)> : std::type_identity<R(Args...)> {};
template <class R, class C, class... Args, bool IsNoexcept>
struct call_signature<R (C::*)(Args...) const noexcept(IsNoexcept)>
    : std::type_identity<R(Args...)> {};
template <class R, class C, class... Args, bool IsNoexcept>
struct call_signature<R (C::*)(Args...)& noexcept(IsNoexcept)> : std::type_identity<R(Args...)> {};
template <class R, class C, class... Args, bool IsNoexcept>
struct call_signature<R (C::*)(Args...) const& noexcept(IsNoexcept)>
    : std::type_identity<R(Args...)> {};

}  // namespace detail

template <class R, class... Args>
packaged_task(R (*)(Args...)) -> packaged_task<R(Args...)>;
template <class F>
packaged_task(F) -> packaged_task<typename detail::call_signature<decltype(&F::operator())>::type>;

}  // namespace quern
