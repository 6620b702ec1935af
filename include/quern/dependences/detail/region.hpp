// SPDX-License-Identifier: BSL-1.0
// Accesses as values with the type of their view, and how they are made of what the user names.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/dependences/detail/strides.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace quern {
struct sentinel_at;
}

namespace quern::detail {

class domain_core;

/// What orders accesses of one region: equal kinds do not, unless both are `write`; all others do.
enum class access_kind : std::uint8_t { read, write, concurrent, commutative, reduction };

constexpr bool is_shared(access_kind kind) noexcept { return kind != access_kind::write; }

/// The bytes [begin, begin + bytes), or a sentinel when there are none. With strides it is such a
/// row, repeated.
struct region {
    std::uintptr_t begin = 0;
    std::size_t bytes = 0;
    access_kind kind = access_kind::read;
    bool is_empty = false;        ///< a range without elements: orders nothing
    bool is_weak = false;         ///< not used by the task itself, but by its children
    bool is_out = false;          ///< of a write, for check-accesses: the value before is not read
    std::uint32_t operation = 0;  ///< of a reduction: accesses by another one are of another kind
};

/// A region with its strides, which lie elsewhere.
struct strided_region : region {
    strided_region() = default;
    strided_region(const region& row, const strides* repeated = nullptr) noexcept
        : region(row), shape(repeated) {}

    const strides* shape = nullptr;  ///< null: one row
};

/// The same bytes in the same way: what this_task::release names.
inline bool is_same_place(const strided_region& a, const strided_region& b) noexcept {
    return a.begin == b.begin && a.bytes == b.bytes && a.kind == b.kind &&
           (a.shape == nullptr ? b.shape == nullptr : b.shape != nullptr && *a.shape == *b.shape);
}

/// The same, or a part of the access that may be released by itself. Throws std::bad_alloc.
bool is_place_or_part(const strided_region& whole, const strided_region& wanted);

/// What the task keeps of an access besides its record: nothing.
struct nothing_kept {};

/// What the owner of a domain gives to spawn(). `View`: T& of an object, std::span<T> of a range,
/// void of a sentinel. Other types of accesses have the same members.
struct access_base : region {};

template <class View>
struct access : access_base {
    using view_type = View;
    using kept = nothing_kept;

    /// Called once by spawn(). What the result points to lies in `kept`.
    strided_region resolve(kept&, domain_core&) const noexcept { return *this; }
    /// The same without an effect.
    strided_region named(kept&) const noexcept { return *this; }

    /// What the function gets, as a tuple: nothing, a reference or a span.
    static auto view(kept&, const region& of) noexcept {
        if constexpr (std::is_void_v<View>) {
            return std::tuple<>();
        } else if constexpr (std::is_reference_v<View>) {
            using object = std::remove_reference_t<View>;
            return std::tuple<View>(*reinterpret_cast<object*>(of.begin));
        } else {
            using element = typename View::element_type;
            return std::tuple<View>(
                View(reinterpret_cast<element*>(of.begin), of.bytes / sizeof(element)));
        }
    }
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

template <class A>
constexpr A as_out(A access) {
    access.is_out = true;
    return access;
}

/// Names its accesses itself, as `what.template access_of<Kind>()`: blocks, renamed objects.
template <class X, access_kind Kind>
concept names_access = requires(X&& what) {
    { std::forward<X>(what).template access_of<Kind>() } -> an_access;
};

template <access_kind Kind, class X>
constexpr auto access_to(X&& what) {
    using object = std::remove_reference_t<X>;
    if constexpr (names_access<X, Kind>) {
        return std::forward<X>(what).template access_of<Kind>();
    } else if constexpr (std::same_as<std::remove_cv_t<object>, sentinel_at>) {
        return access<void>{{{reinterpret_cast<std::uintptr_t>(what.address), 0, Kind}}};
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
        return access<seen&>{
            {{reinterpret_cast<std::uintptr_t>(std::addressof(what)), sizeof(object), Kind}}};
    }
}

/// Where the access is, without an effect if it can be said without one.
template <class A>
strided_region named_region(const A& access, typename A::kept& keeps, domain_core& home) {
    if constexpr (requires { access.named(keeps); }) {
        return access.named(keeps);
    } else {
        return access.resolve(keeps, home);
    }
}

/// The same access, only of children: no view.
template <class Of>
struct weak_access : access_base {
    using view_type = void;
    using kept = typename Of::kept;

    constexpr explicit weak_access(const Of& of) : access_base(of), m_of(of) { is_weak = true; }

    strided_region resolve(kept& keeps, domain_core& home) const {
        if constexpr (requires { m_of.named(keeps); }) {
            strided_region found = named(keeps);
            if constexpr (requires { m_of.operation_in(home); }) {
                found.operation = m_of.operation_in(home);
            }
            return found;
        } else {
            strided_region found = m_of.resolve(keeps, home);
            found.is_weak = true;
            return found;
        }
    }
    strided_region named(kept& keeps) const
        requires(requires(const Of& of, kept& its) { of.named(its); }) {
        strided_region found = m_of.named(keeps);
        found.is_weak = true;
        if constexpr (requires { m_of.is_ordered; }) {
            // Each task's children are combined with the object in a turn of their own.
            found.kind = m_of.is_ordered ? access_kind::write : access_kind::commutative;
        }
        return found;
    }
    static std::tuple<> view(kept&, const region&) noexcept { return {}; }

private:
    Of m_of;
};

// -- what taskwait(on()) waits for -------------------------------------------------------------

/// An access as a value on its own.
struct wanted_region {
    region row;
    strides shape;

    strided_region get() const noexcept { return {row, shape.is_used() ? &shape : nullptr}; }
};

template <class X>
constexpr auto access_to_wait_for(X&& what) {
    if constexpr (an_access<X>) {
        return what;
    } else {
        return detail::access_to<access_kind::write>(std::forward<X>(what));
    }
}

template <an_access A>
wanted_region wanted_of(const A& access, domain_core& home) {
    if constexpr (requires { access.region_to_wait_for(home); }) {
        return {access.region_to_wait_for(home), strides()};
    } else {
        typename A::kept keeps{};
        const strided_region found = detail::named_region(access, keeps, home);
        return {found, found.shape != nullptr ? *found.shape : strides()};
    }
}

}  // namespace quern::detail
