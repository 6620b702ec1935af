// SPDX-License-Identifier: BSL-1.0
// Iterators in the form that the serial algorithms of namespace std accept. Those are specified for
// the iterators of C++17: std::views::iota of std::size_t, whose differences are wider than any
// integer of the standard, is none, and the iterators of most views count as input iterators,
// because their * is a temporary. Every call of an algorithm of namespace std with a program's
// iterators goes through as_standard().
#pragma once

#include <quern/base/detail/config.hpp>

#include <compare>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

namespace quern::detail {

/// What an iterator is by the concepts of C++20, as a category of C++17.
template <class It>
using category_of = std::conditional_t<
    std::random_access_iterator<It>, std::random_access_iterator_tag,
    std::conditional_t<
        std::bidirectional_iterator<It>, std::bidirectional_iterator_tag,
        std::conditional_t<std::forward_iterator<It>, std::forward_iterator_tag,
                           std::conditional_t<std::input_iterator<It>, std::input_iterator_tag,
                                              std::output_iterator_tag>>>>;

/// Whether the algorithms of C++17 know as much of an iterator as its concepts say.
template <class It>
inline constexpr bool k_is_standard = false;
template <class It>
    requires requires { typename std::iterator_traits<It>::iterator_category; }
inline constexpr bool k_is_standard<It> =
    std::is_same_v<category_of<It>, std::output_iterator_tag> ||
    std::derived_from<typename std::iterator_traits<It>::iterator_category, category_of<It>>;

template <class It>
struct value_of {
    using type = void;
};
template <std::indirectly_readable It>
struct value_of<It> {
    using type = std::iter_value_t<It>;
};

/// An iterator of C++20 as one of C++17 with differences that are an integer.
template <class It>
class standard_iterator {
public:
    using iterator_category = category_of<It>;
    using value_type = typename value_of<It>::type;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = std::iter_reference_t<It>;

    standard_iterator() = default;
    explicit standard_iterator(It base) : m_base(std::move(base)) {}

    const It& base() const noexcept { return m_base; }

    reference operator*() const { return *m_base; }
    reference operator[](difference_type n) const { return *(*this + n); }
    friend decltype(auto) iter_move(const standard_iterator& i) {
        return std::ranges::iter_move(i.m_base);
    }

    standard_iterator& operator++() {
        ++m_base;
        return *this;
    }
    standard_iterator operator++(int) {
        standard_iterator before = *this;
        ++m_base;
        return before;
    }
    standard_iterator& operator--() {
        --m_base;
        return *this;
    }
    standard_iterator operator--(int) {
        standard_iterator before = *this;
        --m_base;
        return before;
    }
    standard_iterator& operator+=(difference_type n) {
        m_base += static_cast<std::iter_difference_t<It>>(n);
        return *this;
    }
    standard_iterator& operator-=(difference_type n) {
        m_base -= static_cast<std::iter_difference_t<It>>(n);
        return *this;
    }
    friend standard_iterator operator+(standard_iterator i, difference_type n) { return i += n; }
    friend standard_iterator operator+(difference_type n, standard_iterator i) { return i += n; }
    friend standard_iterator operator-(standard_iterator i, difference_type n) { return i -= n; }
    friend difference_type operator-(const standard_iterator& a, const standard_iterator& b) {
        return static_cast<difference_type>(a.m_base - b.m_base);
    }
    friend bool operator==(const standard_iterator& a, const standard_iterator& b) {
        return a.m_base == b.m_base;
    }
    friend bool operator<(const standard_iterator& a, const standard_iterator& b) {
        return a.m_base < b.m_base;
    }
    friend bool operator>(const standard_iterator& a, const standard_iterator& b) { return b < a; }
    friend bool operator<=(const standard_iterator& a, const standard_iterator& b) {
        return !(b < a);
    }
    friend bool operator>=(const standard_iterator& a, const standard_iterator& b) {
        return !(a < b);
    }

private:
    It m_base{};
};

template <class It>
using standard_of = std::conditional_t<k_is_standard<It>, It, standard_iterator<It>>;

/// The iterator itself if namespace std knows what it is.
template <class It>
QUERN_ALWAYS_INLINE standard_of<It> as_standard(It it) {
    return standard_of<It>(std::move(it));
}

/// Results of such algorithms, with the program's iterators again.
template <class T>
QUERN_ALWAYS_INLINE T as_given(T result) {
    return result;
}
template <class It>
QUERN_ALWAYS_INLINE It as_given(const standard_iterator<It>& result) {
    return result.base();
}
template <class A, class B>
QUERN_ALWAYS_INLINE auto as_given(const std::pair<A, B>& result) {
    return std::pair(detail::as_given(result.first), detail::as_given(result.second));
}

/// Whether to read an element may change it, as with move iterators: it must not be read twice.
template <class It>
inline constexpr bool k_moves = std::is_rvalue_reference_v<std::iter_reference_t<It>>;

/// Whether * gives an element itself. Else it gives a temporary, which may refer to one: then
/// std::swap and std::move of what * gives are of no use.
template <class It>
inline constexpr bool k_gives_elements = std::is_lvalue_reference_v<std::iter_reference_t<It>>;

}  // namespace quern::detail
