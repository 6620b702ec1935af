// SPDX-License-Identifier: BSL-1.0
// when_all, when_any, when_some and when_each in HPX's forms: futures as lvalues, which are still
// moved, any container, iterators, and a number of futures from an iterator on.
#pragma once

#include <quern/compat/hpx/future.hpp>
#include <quern/task/split_future.hpp>
#include <quern/task/when.hpp>
#include <quern/task/when_each.hpp>

#include <array>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace hpx {

template <class Sequence>
using when_any_result = quern::when_any_result<Sequence>;
template <class Sequence>
using when_some_result = quern::when_some_result<Sequence>;

namespace detail {

template <class... Ts>
concept futures = (traits::is_future_v<Ts> && ...);

template <class T>
concept future_sequence = quern::detail::sequence_type<std::remove_cvref_t<T>> &&
    traits::is_future_v<typename std::remove_cvref_t<T>::value_type>;

/// A unique future is moved, even from an lvalue; a shared one is copied.
template <class Future>
std::remove_cvref_t<Future> taken(Future&& f) {
    using plain = std::remove_cvref_t<Future>;
    if constexpr (std::is_copy_constructible_v<plain>) {
        return std::forward<Future>(f);
    } else {
        return std::move(const_cast<plain&>(f));
    }
}

template <class Container, class It>
Container taken_range(It first, std::size_t count) {
    Container all;
    for (; count != 0; --count, ++first) {
        all.push_back(taken(*first));
    }
    return all;
}

/// The futures of a container, which keeps its size with invalid elements.
template <class Container>
auto taken_sequence(Container&& from) {
    using plain = std::remove_cvref_t<Container>;
    if constexpr (requires { std::tuple_size<plain>::value; }) {
        return std::apply([](auto&... each) { return plain{taken(each)...}; }, from);
    } else {
        return taken_range<plain>(
            from.begin(), static_cast<std::size_t>(std::distance(from.begin(), from.end())));
    }
}

template <class It>
std::size_t length(It first, It last) {
    return static_cast<std::size_t>(std::distance(first, last));
}

template <class It>
using future_vector = std::vector<typename std::iterator_traits<It>::value_type>;

/// Too few futures for when_some are HPX's bad_parameter.
template <class Sequence>
auto some_of(std::size_t wanted, Sequence all) {
    try {
        return future<when_some_result<Sequence>>(
            quern::detail::when_some_of(wanted, std::move(all)));
    } catch (const std::invalid_argument& error) {
        throw exception(error::bad_parameter, error.what());
    }
}
template <class Sequence>
auto any_of(Sequence all) {
    return future<when_any_result<Sequence>>(quern::detail::when_any_of(std::move(all)));
}
template <class Sequence>
auto all_of(Sequence all) {
    return future<Sequence>(quern::detail::when_all_of(std::move(all)));
}
template <class F, class Sequence>
future<void> each_of(const void* site, F&& f, Sequence all) {
    return quern::detail::when_each_of(site, std::decay_t<F>(std::forward<F>(f)), std::move(all));
}

template <class... Futures>
auto taken_tuple(Futures&&... all) {
    return std::tuple<std::remove_cvref_t<Futures>...>(taken(std::forward<Futures>(all))...);
}

}  // namespace detail

/// Ready when all are. The value is the futures: a tuple, a container of the given type, or a
/// vector for iterators unless another container is named.
template <class... Futures>
    requires detail::futures<Futures...>
auto when_all(Futures&&... all) {
    return detail::all_of(detail::taken_tuple(std::forward<Futures>(all)...));
}
template <detail::future_sequence Container>
auto when_all(Container&& all) {
    return detail::all_of(detail::taken_sequence(all));
}
template <std::input_iterator It, class Container = detail::future_vector<It>>
auto when_all(It first, It last) {
    return detail::all_of(detail::taken_range<Container>(first, detail::length(first, last)));
}
template <std::input_iterator It, class Container = detail::future_vector<It>>
auto when_all_n(It first, std::size_t count) {
    return detail::all_of(detail::taken_range<Container>(first, count));
}

/// Ready when the first is; the value names that one, and holds all futures.
template <class... Futures>
    requires detail::futures<Futures...>
auto when_any(Futures&&... all) {
    return detail::any_of(detail::taken_tuple(std::forward<Futures>(all)...));
}
template <detail::future_sequence Container>
auto when_any(Container&& all) {
    return detail::any_of(detail::taken_sequence(all));
}
template <std::input_iterator It, class Container = detail::future_vector<It>>
auto when_any(It first, It last) {
    return detail::any_of(detail::taken_range<Container>(first, detail::length(first, last)));
}
template <std::input_iterator It, class Container = detail::future_vector<It>>
auto when_any_n(It first, std::size_t count) {
    return detail::any_of(detail::taken_range<Container>(first, count));
}

/// Ready when `wanted` of them are. Throws hpx::exception(bad_parameter) when there are fewer.
template <class... Futures>
    requires detail::futures<Futures...>
auto when_some(std::size_t wanted, Futures&&... all) {
    return detail::some_of(wanted, detail::taken_tuple(std::forward<Futures>(all)...));
}
template <detail::future_sequence Container>
auto when_some(std::size_t wanted, Container&& all) {
    return detail::some_of(wanted, detail::taken_sequence(all));
}
template <std::input_iterator It, class Container = detail::future_vector<It>>
auto when_some(std::size_t wanted, It first, It last) {
    return detail::some_of(wanted,
                           detail::taken_range<Container>(first, detail::length(first, last)));
}
template <std::input_iterator It, class Container = detail::future_vector<It>>
auto when_some_n(std::size_t wanted, It first, std::size_t count) {
    return detail::some_of(wanted, detail::taken_range<Container>(first, count));
}

/// Calls f(future) or f(index, future) with each as it becomes ready, one call at a time. The
/// result is ready after the last call; for iterators it holds the end of the range.
template <class F, class... Futures>
    requires detail::futures<Futures...> QUERN_ALWAYS_INLINE future<void> when_each(
        F&& f, Futures&&... all) {
        return detail::each_of(quern::detail::code_address(), std::forward<F>(f),
                               detail::taken_tuple(std::forward<Futures>(all)...));
    }
template <class F, detail::future_sequence Container>
QUERN_ALWAYS_INLINE future<void> when_each(F&& f, Container&& all) {
    return detail::each_of(quern::detail::code_address(), std::forward<F>(f),
                           detail::taken_sequence(all));
}
template <class F, std::input_iterator It>
QUERN_ALWAYS_INLINE future<It> when_each_n(F&& f, It first, std::size_t count) {
    const It last = std::next(first, static_cast<std::ptrdiff_t>(count));
    return detail::each_of(quern::detail::code_address(), std::forward<F>(f),
                           detail::taken_range<detail::future_vector<It>>(first, count))
        .then(detail::in_place(), [last](future<void> ready) {
            ready.get();
            return last;
        });
}
template <class F, std::input_iterator It>
QUERN_ALWAYS_INLINE future<It> when_each(F&& f, It first, It last) {
    return when_each_n(std::forward<F>(f), first, detail::length(first, last));
}

/// A future for every element of a tuple, pair, array, or vector of a known size.
template <class Whole, class... Size>
auto split_future(future<Whole>&& whole, Size... size) {
    auto parts = quern::split_future(quern::future<Whole>(std::move(whole)), size...);
    if constexpr (requires { std::tuple_size<decltype(parts)>::value; }) {
        return std::apply(
            [](auto&&... each) {
                using quern_parts = decltype(parts);
                if constexpr (quern::detail::sequence_type<quern_parts>) {
                    return std::array{future(std::move(each))...};
                } else {
                    return std::tuple{future(std::move(each))...};
                }
            },
            std::move(parts));
    } else {
        using part = typename decltype(parts)::value_type::state_type::result;
        return std::vector<future<part>>(std::move_iterator(parts.begin()),
                                         std::move_iterator(parts.end()));
    }
}
template <class Whole, class... Size>
auto split_future(const shared_future<Whole>& whole, Size... size) {
    return hpx::split_future(
        future<Whole>(whole.then(detail::in_place(),
                                 [](shared_future<Whole> ready) -> Whole { return ready.get(); })),
        size...);
}

namespace lcos {
using hpx::split_future;
using hpx::when_all;
using hpx::when_any;
using hpx::when_each;
using hpx::when_some;
}  // namespace lcos

}  // namespace hpx
