// SPDX-License-Identifier: BSL-1.0
// hpx::future and hpx::shared_future: the states of Quern's futures behind HPX's members.
// Differences from quern::future: an invalid one returns false instead of throwing, errors are
// hpx::exception, any future converts to future<void>, and nested futures unwrap themselves.
#pragma once

#include <quern/compat/hpx/future_base.hpp>
#include <quern/task/future.hpp>

#include <type_traits>
#include <utility>

namespace hpx {

/// As quern::future; conversions to and from it are free.
template <class T>
class future : public detail::future_base<T> {
    using base = detail::future_base<T>;
    using state_ref = quern::detail::state_ref<quern::detail::shared_state<T>>;

public:
    using result_type = T;
    using value_type = T;

    future() noexcept = default;
    future(future&&) noexcept = default;
    future& operator=(future&&) noexcept = default;
    future(quern::future<T>&& other) noexcept : base(std::move(other).take_state()) {}
    explicit future(state_ref state) noexcept : base(std::move(state)) {}

    /// Waits for the inner result too.
    future(future<future<T>>&& nested) : future(nested.then(detail::in_place(), k_pass_on)) {}
    future(future<shared_future<T>>&& nested)
        : future(nested.then(detail::in_place(), k_pass_on)) {}

    /// Drops the value; an exception stays.
    template <class U>
        requires(std::is_void_v<T> && !std::is_void_v<U> && !traits::is_future_v<U>)
    future(future<U>&& other)
        : future(other.then(detail::in_place(), [](future<U> ready) { ready.get(); })) {}

    operator quern::future<T>() && noexcept {
        return quern::future<T>(std::move(*this).take_state());
    }

    /// Waits, then moves the result out or throws. Invalid afterwards.
    T get() {
        this->state();
        return detail::translated(
            [this]() -> T { return quern::future<T>(std::move(*this).take_state()).get(); });
    }
    T get(error_code& ec) {
        return detail::translated(ec, [this]() -> T { return get(); });
    }

    shared_future<T> share() noexcept { return shared_future<T>(std::move(*this)); }

    /// Calls f(this future) when it is ready: in a task, or as a policy or an executor says.
    /// Returns the future of f's result; if that is a future, of its result.
    template <class F>
    QUERN_ALWAYS_INLINE auto then(F&& f) {
        return base::then_by(quern::detail::code_address(), std::move(*this), launch(),
                             std::forward<F>(f));
    }
    template <detail::start_wish Wish, class F>
    QUERN_ALWAYS_INLINE auto then(const Wish& wish, F&& f) {
        return base::then_by(quern::detail::code_address(), std::move(*this), wish,
                             std::forward<F>(f));
    }
    template <class F>
    auto then(const quern::task_attributes& how, F&& f) {
        this->state();
        return detail::continue_with(how, std::move(*this), std::forward<F>(f));
    }

    /// For the combinators.
    state_ref take_state() && noexcept { return std::move(this->m_state); }

private:
    static constexpr auto k_pass_on = [](auto outer) { return outer.get(); };
};

/// As quern::shared_future.
template <class T>
class shared_future : public detail::future_base<T> {
    using base = detail::future_base<T>;

public:
    using result_type = T;
    using value_type = T;

    shared_future() noexcept = default;
    shared_future(future<T>&& unique) noexcept : base(std::move(unique).take_state()) {}
    shared_future(quern::future<T>&& unique) noexcept : base(std::move(unique).take_state()) {}
    shared_future(future<shared_future<T>>&& nested)
        : shared_future(future<T>(std::move(nested))) {}
    shared_future(future<future<T>>&& nested) : shared_future(future<T>(std::move(nested))) {}
    template <class U>
        requires(std::is_void_v<T> && !std::is_void_v<U> && !traits::is_future_v<U>)
    shared_future(future<U>&& other) : shared_future(future<void>(std::move(other))) {}
    template <class U>
        requires(std::is_void_v<T> && !std::is_void_v<U> && !traits::is_future_v<U>)
    shared_future(const shared_future<U>& other)
        : shared_future(
              other.then(detail::in_place(), [](shared_future<U> ready) { ready.get(); })) {}

    /// Waits, then returns the result by reference to const, or throws.
    decltype(auto) get() const {
        this->wait();
        return detail::translated([this]() -> decltype(auto) {
            if constexpr (std::is_void_v<T>) {
                this->state().value();
            } else if constexpr (std::is_reference_v<T>) {
                return static_cast<T>(*this->state().value());
            } else {
                return static_cast<const T&>(this->state().value());
            }
        });
    }
    decltype(auto) get(error_code& ec) const {
        detail::translated(ec, [this] { (void)get(); });
        if constexpr (!std::is_void_v<T>) {
            using value = std::remove_cvref_t<T>;
            return ec ? value() : value(get());
        }
    }

    template <class F>
    QUERN_ALWAYS_INLINE auto then(F&& f) const {
        return base::then_by(quern::detail::code_address(), *this, launch(), std::forward<F>(f));
    }
    template <detail::start_wish Wish, class F>
    QUERN_ALWAYS_INLINE auto then(const Wish& wish, F&& f) const {
        return base::then_by(quern::detail::code_address(), *this, wish, std::forward<F>(f));
    }
    template <class F>
    auto then(const quern::task_attributes& how, F&& f) const {
        this->state();
        return detail::continue_with(how, *this, std::forward<F>(f));
    }
};

namespace detail {

template <class R>
auto to_quern(R&& result) {
    using T = value_of<R>;
    if (!result.valid()) {
        throw exception(error::no_state, "a continuation has returned an invalid future");
    }
    // A continuation's result has no other owner.
    // NOLINTBEGIN(bugprone-move-forwarding-reference)
    if constexpr (std::is_same_v<std::remove_cvref_t<R>, future<T>>) {
        return quern::future<T>(std::move(result).take_state());
    } else {
        return quern::detail::attach(in_place(), std::move(result),
                                     [](shared_future<T> ready) -> T { return ready.get(); });
    }
    // NOLINTEND(bugprone-move-forwarding-reference)
}

template <class R>
auto finish(quern::future<R>&& made) {
    if constexpr (quern::detail::is_future_v<R>) {
        using T = typename R::state_type::result;
        return future<T>(quern::future<T>(std::move(made)));
    } else {
        return future<R>(std::move(made));
    }
}

template <class Executor, class Source, class F>
auto continue_by(const Executor& by, Source source, F&& f) {
    // The executor starts the function when the source is ready; this waits for its future too.
    return continue_with(in_place(), std::move(source),
                         [by, f = std::decay_t<F>(std::forward<F>(f))](Source ready) mutable {
                             return parallel::execution::async_execute(by, std::move(f),
                                                                       std::move(ready));
                         });
}

}  // namespace detail

/// For `future<void>`s as in older programs of HPX.
namespace lcos {
using hpx::future;
using hpx::shared_future;
}  // namespace lcos

}  // namespace hpx
