// SPDX-License-Identifier: BSL-1.0
// Accesses as values with the type of their view, and how they are made of what the user names.
#pragma once

#include <quern/base/detail/config.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

namespace quern {
struct sentinel_at;
}

namespace quern::detail {

/// What orders accesses of one region: equal kinds of `read` or `concurrent` do not, all others do.
enum class access_kind : std::uint8_t { read, write, concurrent };

constexpr bool is_shared(access_kind kind) noexcept { return kind != access_kind::write; }

/// The bytes [begin, begin + bytes), or a sentinel when there are none.
struct region {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
    access_kind kind = access_kind::read;
    bool is_empty = false;  ///< a range without elements: orders nothing
};

struct access_base : region {};

/// View: T& of an object, std::span<T> of a range, void of a sentinel.
template <class View>
struct access : access_base {
    using view_type = View;
};

template <class A>
concept an_access = std::derived_from<std::remove_cvref_t<A>, access_base>;

[[noreturn]] QUERN_COLD void refuse_range(const volatile void* first, std::ptrdiff_t n);

/// Throws std::invalid_argument.
template <access_kind Kind, class T>
constexpr access<std::span<T>> range_access(T* first, std::ptrdiff_t n) {
    static_assert(Kind == access_kind::read || !std::is_const_v<T>,
                  "quern: a task cannot write what is const");
    constexpr std::ptrdiff_t k_most = PTRDIFF_MAX / static_cast<std::ptrdiff_t>(sizeof(T));
    if (n < 0 || n > k_most || (first == nullptr && n != 0)) [[unlikely]] {
        detail::refuse_range(first, n);
    }
    return {{{reinterpret_cast<std::uintptr_t>(first), static_cast<std::size_t>(n) * sizeof(T),
              Kind, n == 0}}};
}

template <class X>
inline constexpr bool k_is_std_array = false;
template <class T, std::size_t N>
inline constexpr bool k_is_std_array<std::array<T, N>> = true;

/// Whether its elements are meant. They are elsewhere than the object, but for arrays.
template <class X>
concept a_container = std::ranges::contiguous_range<X> && std::ranges::sized_range<X> &&
                      !std::is_array_v<std::remove_cvref_t<X>> &&
                      !k_is_std_array<std::remove_cvref_t<X>>;

template <access_kind Kind, class X>
constexpr auto access_to(X&& what) {
    using object = std::remove_reference_t<X>;
    if constexpr (std::same_as<std::remove_cv_t<object>, sentinel_at>) {
        return access<void>{{{reinterpret_cast<std::uintptr_t>(what.address), 0, Kind, false}}};
    } else if constexpr (a_container<X>) {
        static_assert(std::is_lvalue_reference_v<X> || std::ranges::borrowed_range<X>,
                      "quern: an access to a temporary object");
        using element = std::remove_reference_t<std::ranges::range_reference_t<X>>;
        using seen = std::conditional_t<Kind == access_kind::read, const element, element>;
        return detail::range_access<Kind, seen>(std::ranges::data(what), std::ranges::ssize(what));
    } else {
        static_assert(std::is_lvalue_reference_v<X>, "quern: an access to a temporary object");
        static_assert(!std::is_pointer_v<std::remove_cv_t<object>>,
                      "quern: an access to a pointer: name *p, or (p, n)");
        static_assert(Kind == access_kind::read || !std::is_const_v<object>,
                      "quern: a task cannot write what is const");
        using seen = std::conditional_t<Kind == access_kind::read, const object, object>;
        return access<seen&>{{{reinterpret_cast<std::uintptr_t>(std::addressof(what)),
                               sizeof(object), Kind, false}}};
    }
}

template <std::size_t N>
struct waited_regions {
    std::array<region, N> regions;
};

template <class X>
constexpr region region_to_wait_for(X&& what) {
    if constexpr (an_access<X>) {
        return what;
    } else {
        return detail::access_to<access_kind::write>(std::forward<X>(what));
    }
}

}  // namespace quern::detail
