// SPDX-License-Identifier: BSL-1.0
// split_future: splits a future of several values into one future per value. As in HPX.
#pragma once

#include <quern/task/future.hpp>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace quern {

namespace detail {

/// The future of one part, moved out of the whole; each part is taken once. The whole is destroyed
/// after the last part.
template <class Part, class Whole, class Pick>
future<Part> split_part(const shared_future<Whole>& whole, Pick pick) {
    return whole.then(launch::sync, [pick](const shared_future<Whole>& ready) -> Part {
        return pick(ready.state().value());
    });
}

template <std::size_t Index, class Whole>
auto split_element(const shared_future<Whole>& whole) {
    using element = std::tuple_element_t<Index, Whole>;
    return detail::split_part<element>(whole, [](Whole& value) -> element {
        return static_cast<element&&>(std::get<Index>(value));
    });
}

template <class Whole, std::size_t... Index>
auto split_elements(const shared_future<Whole>& whole, std::index_sequence<Index...>) {
    return std::tuple(detail::split_element<Index>(whole)...);
}

}  // namespace detail

/// A future for every element of a tuple, pair or array, in a container of the same kind. All
/// become ready together. If the whole is an exception, each of them holds it. The given future is
/// invalid afterwards. Throws std::future_error(no_state), std::bad_alloc.
///
/// Thread safety: any thread. Cost: one allocation per element.
///
///     auto [quotient, rest] = quern::split_future(quern::async(divide, 17, 5));
template <class... Elements>
std::tuple<future<Elements>...> split_future(future<std::tuple<Elements...>>&& whole) {
    return detail::split_elements(whole.share(), std::index_sequence_for<Elements...>());
}
template <class First, class Second>
std::pair<future<First>, future<Second>> split_future(future<std::pair<First, Second>>&& whole) {
    const auto shared = whole.share();
    return {detail::split_element<0>(shared), detail::split_element<1>(shared)};
}
template <class T, std::size_t Size>
std::array<future<T>, Size> split_future(future<std::array<T, Size>>&& whole) {
    return std::apply(
        [](auto&&... each) { return std::array<future<T>, Size>{std::move(each)...}; },
        detail::split_elements(whole.share(), std::make_index_sequence<Size>()));
}

/// A future for every element of a vector that will have `size` elements. If its size differs, each
/// future holds std::length_error. Otherwise as above.
template <class T>
std::vector<future<T>> split_future(future<std::vector<T>>&& whole, std::size_t size) {
    const auto shared = whole.share();
    std::vector<future<T>> parts;
    parts.reserve(size);
    for (std::size_t i = 0; i < size; ++i) {
        parts.push_back(detail::split_part<T>(shared, [i, size](std::vector<T>& value) -> T {
            if (value.size() != size) {
                throw std::length_error("quern: split_future() was told of " +
                                        std::to_string(size) + " elements, there are " +
                                        std::to_string(value.size()));
            }
            return std::move(value[i]);
        }));
    }
    return parts;
}

}  // namespace quern
