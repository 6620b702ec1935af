// SPDX-License-Identifier: BSL-1.0
// unwrapping: turns a function of values into a function of futures, for dataflow and then. As in
// HPX.
#pragma once

#include <quern/task/detail/join_frame.hpp>

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace quern {

namespace detail {

template <class Argument>
auto unwrap(Argument&& argument);

/// A sequence becomes a vector of its unwrapped elements, or nothing if these are void.
template <class Sequence>
auto unwrap_sequence(Sequence&& sequence) {
    using element = typename std::remove_cvref_t<Sequence>::value_type;
    using passed = std::conditional_t<std::is_lvalue_reference_v<Sequence>,
                                      decltype(*sequence.begin()), element&&>;
    using unwrapped = decltype(detail::unwrap(std::declval<passed>()));
    if constexpr (std::tuple_size_v<unwrapped> == 0) {
        for (auto& each : sequence) {
            detail::unwrap(static_cast<passed>(each));
        }
        return std::tuple<>();
    } else {
        std::vector<std::decay_t<std::tuple_element_t<0, unwrapped>>> values;
        values.reserve(sequence.size());
        for (auto& each : sequence) {
            values.push_back(std::get<0>(detail::unwrap(static_cast<passed>(each))));
        }
        return std::tuple<decltype(values)>(std::move(values));
    }
}

/// A tuple becomes a tuple of its remaining unwrapped elements, or nothing if none remain.
template <class Tuple>
auto unwrap_tuple(Tuple&& whole) {
    auto values = std::apply(
        [](auto&&... each) {
            return std::tuple_cat(detail::unwrap(std::forward<decltype(each)>(each))...);
        },
        std::forward<Tuple>(whole));
    if constexpr (std::tuple_size_v<decltype(values)> == 0) {
        return values;
    } else {
        return std::tuple<decltype(values)>(std::move(values));
    }
}

/// The unwrapped argument, in a tuple of zero or one element.
template <class Argument>
auto unwrap(Argument&& argument) {
    using A = std::remove_cvref_t<Argument>;
    if constexpr (is_future_v<A>) {
        if constexpr (std::is_void_v<decltype(argument.get())>) {
            argument.get();  // throws what the task threw
            return std::tuple<>();
        } else {
            return std::tuple<decltype(argument.get())>(argument.get());
        }
    } else if constexpr (!holds_futures<A>::value) {
        return std::tuple<A>(std::forward<Argument>(argument));
    } else if constexpr (is_reference_wrapper<A>::value) {
        return detail::unwrap(argument.get());
    } else if constexpr (sequence_type<A>) {
        return detail::unwrap_sequence(std::forward<Argument>(argument));
    } else {
        return detail::unwrap_tuple(std::forward<Argument>(argument));
    }
}

template <class F, class Tuple>
struct takes_all : std::false_type {};
template <class F, class... Elements>
struct takes_all<F, std::tuple<Elements...>> : std::is_invocable<F, Elements...> {};

template <class F>
struct unwrapping_function {
    F function;

    template <class... Arguments>
    decltype(auto) operator()(Arguments&&... arguments) {
        using values =
            decltype(std::tuple_cat(detail::unwrap(std::forward<Arguments>(arguments))...));
        static_assert(takes_all<F&, values>::value,
                      "quern: unwrapping: the function cannot be called with the values of these "
                      "futures; those of void are left out");
        if constexpr (takes_all<F&, values>::value) {
            using result = decltype(std::apply(function, std::declval<values>()));
            if constexpr (std::is_rvalue_reference_v<result>) {
                // It refers to one of the values, which end here.
                return std::remove_cvref_t<result>(std::apply(
                    function,
                    std::tuple_cat(detail::unwrap(std::forward<Arguments>(arguments))...)));
            } else {
                return std::apply(
                    function,
                    std::tuple_cat(detail::unwrap(std::forward<Arguments>(arguments))...));
            }
        }
    }
};

}  // namespace detail

/// Turns a function of values into a function of futures. Each future is replaced by its value, a
/// sequence that holds futures by a vector of values, a tuple or pair that does by a tuple of
/// values; nesting is allowed, and std::ref of any of them counts as its target. Other arguments
/// are passed on. Futures of void, and containers of nothing else, are left out. A shared_future's
/// value is passed by reference to const, in a sequence as a copy. A future inside the value of a
/// future is not unwrapped. An exception held by a future is thrown before the function is called.
/// An rvalue reference that the function returns becomes an object: it may refer to such a value.
///
///     std::vector<quern::future<int>> parts = start_all();
///     auto most = quern::dataflow(quern::unwrapping([](std::vector<int> all, int least) {
///         for (int each : all) least = std::max(least, each);
///         return least;
///     }), std::move(parts), quern::async(f));
template <class F>
auto unwrapping(F&& f) {
    return detail::unwrapping_function<std::decay_t<F>>{std::forward<F>(f)};
}

}  // namespace quern
