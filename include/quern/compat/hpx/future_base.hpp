// SPDX-License-Identifier: BSL-1.0
// Shared by hpx::future and hpx::shared_future: the states of Quern's futures, queries that an
// invalid one answers too, continuations by policy or executor.
#pragma once

#include <quern/compat/hpx/errors.hpp>
#include <quern/compat/hpx/executors.hpp>
#include <quern/task/future.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <type_traits>
#include <utility>

namespace hpx {

template <class T>
class future;
template <class T>
class shared_future;

using future_status = std::future_status;

}  // namespace hpx

// Makes them known to Quern's combinators, dataflow and unwrapping.
template <class T>
struct quern::detail::is_future<hpx::future<T>> : std::true_type {};
template <class T>
struct quern::detail::is_future<hpx::shared_future<T>> : std::true_type {};

namespace hpx {

namespace traits {

template <class T>
struct is_future : quern::detail::is_future<std::remove_cvref_t<T>> {};
template <class T>
inline constexpr bool is_future_v = is_future<T>::value;

template <class T>
struct future_traits {};
template <class T>
struct future_traits<future<T>> {
    using type = T;
    using result_type = T;
};
template <class T>
struct future_traits<shared_future<T>> {
    using type = T;
    using result_type = std::conditional_t<std::is_void_v<T>, void, const T&>;
};

}  // namespace traits

namespace detail {

template <class T>
using value_of = typename traits::future_traits<std::remove_cvref_t<T>>::type;

/// The stored form of a continuation's result: a future becomes one of Quern's.
template <class R>
auto to_quern(R&& result);

/// The future of a continuation's result, without nested futures.
template <class R>
auto finish(quern::future<R>&& made);

/// A task that calls f(source) when the source is ready.
template <class Source, class F>
auto continue_with(const quern::task_attributes& how, Source source, F&& f) {
    return finish(quern::detail::attach(
        how, std::move(source),
        [f = std::decay_t<F>(std::forward<F>(f))](Source ready) mutable -> decltype(auto) {
            using R = std::invoke_result_t<std::decay_t<F>&, Source>;
            if constexpr (traits::is_future_v<R>) {
                return to_quern(std::invoke(f, std::move(ready)));
            } else {
                return static_cast<R>(std::invoke(f, std::move(ready)));
            }
        }));
}

/// The same, started by an executor of the program's own.
template <class Executor, class Source, class F>
auto continue_by(const Executor& by, Source source, F&& f);

/// The common part of future and shared_future. It has no base class of Quern's, whose functions
/// argument-dependent lookup would then find.
template <class T>
class future_base {
public:
    using state_type = quern::detail::shared_state<T>;

    bool valid() const noexcept { return static_cast<bool>(m_state); }
    bool is_ready() const noexcept { return m_state && m_state->ready(); }
    bool has_exception() const noexcept { return is_ready() && m_state->failed(); }
    bool has_value() const noexcept { return is_ready() && !m_state->failed(); }

    /// Throws hpx::exception(no_state) when it is invalid, as every member below.
    void wait() const { state().wait(); }
    void wait(error_code& ec) const {
        translated(ec, [this] { wait(); });
    }

    template <class Clock, class Duration>
    future_status wait_until(const std::chrono::time_point<Clock, Duration>& when,
                             error_code& ec = throws) const {
        return translated(ec, [&] {
            state_type& s = state();
            const auto until = [&s](auto steady) { return s.wait_until(steady); };
            return quern::detail::wait_on_clock(when, until) ? future_status::ready
                                                             : future_status::timeout;
        });
    }
    template <class Rep, class Period>
    future_status wait_for(const std::chrono::duration<Rep, Period>& time,
                           error_code& ec = throws) const {
        return wait_until(quern::detail::due_after(time), ec);
    }

    /// For the combinators.
    state_type& state() const {
        if (!m_state) {
            throw exception(error::no_state, "a future has no shared state");
        }
        return *m_state.get();
    }

    /// Waits; null when there is a value.
    std::exception_ptr get_exception_ptr() const {
        wait();
        if (!has_exception()) {
            return nullptr;
        }
        try {
            this->state().value();
        } catch (...) {
            return std::current_exception();
        }
        return nullptr;
    }

protected:
    future_base() noexcept = default;
    explicit future_base(quern::detail::state_ref<state_type> s) noexcept : m_state(std::move(s)) {}

    /// `self` moved or copied into a continuation.
    template <class Self, class Wish, class F>
    static auto then_by(const void* site, Self&& self, const Wish& wish, F&& f) {
        self.state();
        if constexpr (launch_policy<Wish> || own_executor<Wish>) {
            return continue_with(quern::detail::made_at(site, attributes_of(wish)),
                                 std::decay_t<Self>(std::forward<Self>(self)), std::forward<F>(f));
        } else {
            return continue_by(wish, std::decay_t<Self>(std::forward<Self>(self)),
                               std::forward<F>(f));
        }
    }

    quern::detail::state_ref<state_type> m_state;
};

/// A continuation that drops a value or unwraps a future runs on the thread that makes the source
/// ready.
inline quern::task_attributes in_place() noexcept { return {.how = quern::launch::sync}; }

}  // namespace detail

}  // namespace hpx
