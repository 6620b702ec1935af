// SPDX-License-Identifier: BSL-1.0
// make_ready_future, _at and _after, make_exceptional_future, make_future: futures of existing
// values, or of another future.
#pragma once

#include <quern/compat/hpx/promise.hpp>
#include <quern/task/ready_at.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <type_traits>
#include <utility>

namespace hpx {

/// Ready futures: of nothing, of T(args...), of a value, of a reference for std::ref(x).
inline future<void> make_ready_future() {
    promise<void> p;
    p.set_value();
    return p.get_future();
}
template <class T, class... Args>
    requires(std::is_void_v<T> || std::is_constructible_v<T, Args&&...>)
future<T> make_ready_future(Args&&... args) {
    promise<T> p;
    if constexpr (std::is_void_v<T>) {
        p.set_value();
    } else if constexpr (std::is_reference_v<T>) {
        p.set_value(static_cast<T>(args)...);
    } else {
        p.set_value(T(std::forward<Args>(args)...));
    }
    return p.get_future();
}
template <int = 0, class T>
auto make_ready_future(T&& value) {
    return hpx::make_ready_future<std::unwrap_ref_decay_t<T>>(std::forward<T>(value));
}

/// Futures that become ready at a time, with a value if one is given.
template <class Clock, class Duration>
future<void> make_ready_future_at(const std::chrono::time_point<Clock, Duration>& when) {
    return quern::make_ready_future_at(when);
}
template <int = 0, class Clock, class Duration, class T>
auto make_ready_future_at(const std::chrono::time_point<Clock, Duration>& when, T&& value) {
    return future<std::decay_t<T>>(quern::make_ready_future_at(when, std::forward<T>(value)));
}
template <class T, class Rep, class Period, class... Args>
    requires(std::is_void_v<T> || std::is_constructible_v<T, Args&&...>)
future<T> make_ready_future_after(const std::chrono::duration<Rep, Period>& time, Args&&... args) {
    if constexpr (std::is_void_v<T>) {
        return quern::make_ready_future_after(time);
    } else {
        return quern::make_ready_future_after(time, T(std::forward<Args>(args)...));
    }
}
template <class Rep, class Period>
future<void> make_ready_future_after(const std::chrono::duration<Rep, Period>& time) {
    return quern::make_ready_future_after(time);
}
template <int = 0, class Rep, class Period, class T>
auto make_ready_future_after(const std::chrono::duration<Rep, Period>& time, T&& value) {
    return future<std::decay_t<T>>(quern::make_ready_future_after(time, std::forward<T>(value)));
}

/// A future that throws at get().
template <class T>
future<T> make_exceptional_future(std::exception_ptr error) {
    return quern::make_exceptional_future<T>(std::move(error));
}
template <class T, class E>
    requires(!std::is_same_v<E, std::exception_ptr>)
future<T> make_exceptional_future(E error) {
    return hpx::make_exceptional_future<T>(std::make_exception_ptr(std::move(error)));
}

namespace detail {

template <class R, class Source, class Convert>
auto converted(Source source, Convert convert) {
    return source.then(in_place(), [convert](Source ready) mutable -> R {
        if constexpr (std::is_void_v<R>) {
            ready.get();
        } else {
            return std::invoke(convert, ready.get());
        }
    });
}

}  // namespace detail

/// A future of another type: the value converted, by a function or implicitly, or dropped.
template <class R, class U>
future<R> make_future(future<U>&& source) {
    if constexpr (std::is_same_v<R, U>) {
        return std::move(source);
    } else {
        return detail::converted<R>(std::move(source), [](auto&& value) -> R {
            return std::forward<decltype(value)>(value);
        });
    }
}
template <class R, class U, class Convert>
future<R> make_future(future<U>&& source, Convert convert) {
    return detail::converted<R>(std::move(source), std::move(convert));
}
template <class R, class U>
shared_future<R> make_future(const shared_future<U>& source) {
    if constexpr (std::is_same_v<R, U>) {
        return source;
    } else {
        return detail::converted<R>(source, [](auto&& value) -> R { return value; });
    }
}
template <class R, class U, class Convert>
shared_future<R> make_future(const shared_future<U>& source, Convert convert) {
    return detail::converted<R>(source, std::move(convert));
}
template <class T>
shared_future<T> make_shared_future(future<T>&& source) {
    return source.share();
}
template <class T>
shared_future<T> make_shared_future(const shared_future<T>& source) {
    return source;
}

}  // namespace hpx
