// SPDX-License-Identifier: BSL-1.0
// unwrap, unwrap_n, unwrap_all and unwrapping, _n, _all: the values of futures, single or in
// containers, arrays, tuples or pairs. Futures of void are left out. The number says how many
// levels of futures are unwrapped; containers do not count.
#pragma once

#include <quern/compat/hpx/future.hpp>
#include <quern/task/detail/join_frame.hpp>

#include <array>
#include <cstddef>
#include <limits>
#include <list>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace hpx {

namespace detail {

inline constexpr std::size_t k_every_depth = std::numeric_limits<std::size_t>::max();

/// An unwrapped argument: a tuple of no or one element.
template <std::size_t Depth, class A>
auto unwrapped(A&& argument);

/// The same for a temporary: no references into it.
template <std::size_t Depth, class A>
auto unwrapped_temporary(A&& argument) {
    return std::apply(
        [](auto&&... each) {
            return std::tuple<std::decay_t<decltype(each)>...>(
                std::forward<decltype(each)>(each)...);
        },
        unwrapped<Depth>(argument));
}

template <std::size_t Depth, class Future>
auto unwrapped_future(Future&& f) {
    using V = decltype(f.get());
    if constexpr (std::is_void_v<V>) {
        f.get();
        return std::tuple<>();
    } else if constexpr (Depth > 1 && quern::detail::holds_futures<std::remove_cvref_t<V>>::value) {
        return unwrapped_temporary<Depth - 1>(f.get());
    } else {
        return std::tuple<V>(f.get());
    }
}

/// The same container with another type of element.
template <class Container, class Element>
struct container_of {
    using type = std::vector<Element>;
};
template <class T, class Allocator, class Element>
struct container_of<std::list<T, Allocator>, Element> {
    using type = std::list<Element>;
};
template <template <class, class> class Container, class T, class Allocator, class Element>
struct container_of<Container<T, Allocator>, Element> {
    using type =
        Container<Element,
                  typename std::allocator_traits<Allocator>::template rebind_alloc<Element>>;
};

template <std::size_t Depth, class Sequence>
auto unwrapped_sequence(Sequence&& all) {
    using element = typename std::remove_cvref_t<Sequence>::value_type;
    using passed =
        std::conditional_t<std::is_lvalue_reference_v<Sequence>,
                           std::conditional_t<std::is_const_v<std::remove_reference_t<Sequence>>,
                                              const element&, element&>,
                           element&&>;
    using parts = decltype(unwrapped<Depth>(std::declval<passed>()));
    if constexpr (std::tuple_size_v<parts> == 0) {
        for (auto&& each : all) {
            unwrapped<Depth>(static_cast<passed>(each));
        }
        return std::tuple<>();
    } else {
        using value = std::decay_t<std::tuple_element_t<0, parts>>;
        typename container_of<std::remove_cvref_t<Sequence>, value>::type values;
        for (auto&& each : all) {
            values.push_back(std::get<0>(unwrapped<Depth>(static_cast<passed>(each))));
        }
        return std::tuple<decltype(values)>(std::move(values));
    }
}

template <std::size_t Depth, class Tuple>
auto unwrapped_tuple(Tuple&& all) {
    auto values = std::apply(
        [](auto&&... each) {
            return std::tuple_cat(unwrapped<Depth>(std::forward<decltype(each)>(each))...);
        },
        std::forward<Tuple>(all));
    if constexpr (std::tuple_size_v<decltype(values)> == 0) {
        return values;
    } else {
        // By value: the futures may be destroyed before their values are used.
        return std::apply(
            [](auto&&... each) {
                using whole = std::tuple<std::decay_t<decltype(each)>...>;
                return std::tuple<whole>(whole(std::forward<decltype(each)>(each)...));
            },
            std::move(values));
    }
}

template <std::size_t Depth, class Array>
auto unwrapped_array(Array&& all) {
    auto values = unwrapped_tuple<Depth>(std::forward<Array>(all));
    if constexpr (std::tuple_size_v<decltype(values)> == 0) {
        return values;
    } else {
        auto same = std::apply([](auto&&... each) { return std::array{std::move(each)...}; },
                               std::get<0>(std::move(values)));
        return std::tuple<decltype(same)>(std::move(same));
    }
}

template <class A>
struct is_array : std::false_type {};
template <class T, std::size_t Size>
struct is_array<std::array<T, Size>> : std::bool_constant<(Size > 0)> {};

template <std::size_t Depth, class A>
auto unwrapped(A&& argument) {
    using plain = std::remove_cvref_t<A>;
    if constexpr (traits::is_future_v<plain>) {
        return unwrapped_future<Depth>(argument);
    } else if constexpr (!quern::detail::holds_futures<plain>::value) {
        // An lvalue stays one: the waiting caller owns it.
        return std::tuple<A>(std::forward<A>(argument));
    } else if constexpr (is_array<plain>::value) {
        return unwrapped_array<Depth>(std::forward<A>(argument));
    } else if constexpr (quern::detail::sequence_type<plain>) {
        return unwrapped_sequence<Depth>(std::forward<A>(argument));
    } else {
        return unwrapped_tuple<Depth>(std::forward<A>(argument));
    }
}

/// Nothing, the value, or a tuple of the values.
template <std::size_t Depth, class... Args>
auto unwrap_to_depth(Args&&... args) {
    auto values = std::tuple_cat(unwrapped<Depth>(std::forward<Args>(args))...);
    using all = decltype(values);
    if constexpr (std::tuple_size_v<all> == 0) {
        return;
    } else if constexpr (std::tuple_size_v<all> == 1) {
        using value = std::decay_t<std::tuple_element_t<0, all>>;
        return value(std::get<0>(std::move(values)));
    } else {
        return std::apply(
            [](auto&&... each) {
                return std::tuple<std::decay_t<decltype(each)>...>(
                    std::forward<decltype(each)>(each)...);
            },
            std::move(values));
    }
}

template <class F, class Values>
struct takes_values : std::false_type {};
template <class F, class... Values>
struct takes_values<F, std::tuple<Values...>> : std::is_invocable<F&, Values...> {};

template <std::size_t Depth, class F>
struct unwrapping_function {
    F function;

    template <class... Args>
    requires takes_values<F, decltype(std::tuple_cat(
                                 unwrapped<Depth>(std::declval<Args>())...))>::value decltype(auto)
    operator()(Args&&... args) {
        return std::apply(function, std::tuple_cat(unwrapped<Depth>(std::forward<Args>(args))...));
    }
};

}  // namespace detail

/// Waits for the futures and returns their values; throws an exception that one holds.
template <class... Args>
auto unwrap(Args&&... args) {
    return detail::unwrap_to_depth<1>(std::forward<Args>(args)...);
}
template <std::size_t Depth, class... Args>
auto unwrap_n(Args&&... args) {
    return detail::unwrap_to_depth<Depth>(std::forward<Args>(args)...);
}
template <class... Args>
auto unwrap_all(Args&&... args) {
    return detail::unwrap_to_depth<detail::k_every_depth>(std::forward<Args>(args)...);
}

/// A function of futures that calls f with their values; for dataflow and then.
template <class F>
auto unwrapping(F&& f) {
    return detail::unwrapping_function<1, std::decay_t<F>>{std::forward<F>(f)};
}
template <std::size_t Depth, class F>
auto unwrapping_n(F&& f) {
    return detail::unwrapping_function<Depth, std::decay_t<F>>{std::forward<F>(f)};
}
template <class F>
auto unwrapping_all(F&& f) {
    return detail::unwrapping_function<detail::k_every_depth, std::decay_t<F>>{std::forward<F>(f)};
}

/// For a function that is to be called with one value and returns it.
struct functional_unwrap {
    template <class... Args>
    auto operator()(Args&&... args) const {
        return hpx::unwrap(std::forward<Args>(args)...);
    }
};

namespace util {
using hpx::unwrap;
using hpx::unwrap_all;
using hpx::unwrap_n;
using hpx::unwrapping;
using hpx::unwrapping_all;
using hpx::unwrapping_n;
}  // namespace util

}  // namespace hpx
