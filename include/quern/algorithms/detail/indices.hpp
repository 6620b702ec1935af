// SPDX-License-Identifier: BSL-1.0
// The indices of a loop: their type, and how many there are.
#pragma once

#include <quern/base/detail/config.hpp>

#include <concepts>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace quern::detail {

template <class T, class... Others>
inline constexpr bool is_one_of = (std::is_same_v<std::remove_cv_t<T>, Others> || ...);

/// Integers except bool and character types.
template <class T>
concept loop_bound =
    std::integral<T> && !is_one_of<T, bool, char, wchar_t, char8_t, char16_t, char32_t>;

/// The type that holds both bounds: for int and std::size_t, std::size_t.
template <loop_bound First, loop_bound Last>
using loop_index = std::common_type_t<First, Last>;

/// Converts a bound to the common type.
template <class Index, class Bound>
Index loop_end(Bound bound) {
    if (!std::in_range<Index>(bound)) {
        throw std::invalid_argument("quern: a loop over unsigned indices cannot begin or end at " +
                                    std::to_string(bound));
    }
    return static_cast<Index>(bound);
}

/// Iterations from first to last, correct also if a signed difference would overflow.
template <class Index>
std::size_t distance(Index first, Index last) noexcept {
    using unsigned_index = std::make_unsigned_t<Index>;
    return static_cast<unsigned_index>(static_cast<unsigned_index>(last) -
                                       static_cast<unsigned_index>(first));
}

template <class Index>
Index advance(Index from, std::size_t n) noexcept {
    using unsigned_index = std::make_unsigned_t<Index>;
    return static_cast<Index>(static_cast<unsigned_index>(static_cast<unsigned_index>(from) +
                                                          static_cast<unsigned_index>(n)));
}

/// The first index of a loop and its iterations.
template <class Index>
struct loop_indices {
    Index first;
    std::size_t count;

    template <class First, class Last>
    static loop_indices of(First first, Last last) {
        const auto from = detail::loop_end<Index>(first);
        const auto to = detail::loop_end<Index>(last);
        return {from, from < to ? detail::distance(from, to) : 0};
    }
};

}  // namespace quern::detail
