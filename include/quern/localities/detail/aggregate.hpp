// SPDX-License-Identifier: BSL-1.0
// Reflection of aggregates: how many members one has, their types, and a call with all of them. For
// the archive, which takes apart what has no functions for serialisation. No member is constructed
// or copied. Method: an aggregate's initialisers are counted with a value that converts to
// anything; structured bindings then name the members.
#pragma once

#include <quern/base/detail/config.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace quern::localities::detail {

template <class... T>
struct type_list {};

/// The most members of an aggregate that can be taken apart.
inline constexpr std::size_t k_most_members = 32;

/// The most initialisers that are counted. An array has one for each element.
inline constexpr std::size_t k_most_initialisers = 16384;

/// Converts to anything, in unevaluated code.
struct any_value {
    template <class T>
    operator T() const noexcept;
};
template <std::size_t>
using any_at = any_value;

/// Converts only to the base classes of T.
template <class T>
struct any_base_of {
    template <class Base>
        requires(std::is_base_of_v<Base, T> && !std::same_as<Base, T>)
    operator Base() const noexcept;
};

template <class T>
concept has_base = requires {
    T{any_base_of<T>{}};
};

template <class T, std::size_t... I>
consteval bool takes(std::index_sequence<I...>) {
    return requires { T{any_at<I>{}...}; };
}

/// With empty braces after the first ones, for one whole member.
template <class T, std::size_t... Before, std::size_t... After>
consteval bool takes_around(std::index_sequence<Before...>, std::index_sequence<After...>) {
    return requires { T{any_at<Before>{}..., {}, any_at<After>{}...}; };
}

template <class T, std::size_t Before, std::size_t After>
inline constexpr bool k_takes_around = detail::takes_around<T>(std::make_index_sequence<Before>{},
                                                               std::make_index_sequence<After>{});

/// The largest number of initialisers that T takes: at least Low, which it takes, and less than
/// High, which it does not take.
template <class T, std::size_t Low, std::size_t High>
consteval std::size_t initialisers_between() {
    if constexpr (High - Low <= 1) {
        return Low;
    } else if constexpr (constexpr std::size_t k_middle = Low + (High - Low) / 2;
                         detail::takes<T>(std::make_index_sequence<k_middle>{})) {
        return detail::initialisers_between<T, k_middle, High>();
    } else {
        return detail::initialisers_between<T, Low, k_middle>();
    }
}

template <class T, std::size_t Taken = 0>
consteval std::size_t count_initialisers() {
    constexpr std::size_t k_more = Taken == 0 ? 1 : 2 * Taken;
    if constexpr (k_more > k_most_initialisers) {
        return k_more;
    } else if constexpr (detail::takes<T>(std::make_index_sequence<k_more>{})) {
        return detail::count_initialisers<T, k_more>();
    } else {
        return detail::initialisers_between<T, Taken, k_more>();
    }
}

/// How many initialisers the member takes that begins at the initialiser `At`, of `All`: 1, or the
/// number of elements of an array, which is between Low and High.
template <class T, std::size_t All, std::size_t At, std::size_t Low, std::size_t High>
consteval std::size_t width_between() {
    if constexpr (Low >= High) {
        return Low;
    } else if constexpr (constexpr std::size_t k_middle = Low + (High - Low) / 2;
                         k_takes_around<T, At, All - At - k_middle>) {
        return detail::width_between<T, All, At, Low, k_middle>();
    } else {
        return detail::width_between<T, All, At, k_middle + 1, High>();
    }
}

template <class T, std::size_t All, std::size_t At = 0, std::size_t Members = 0>
consteval std::size_t count_members_from() {
    if constexpr (At >= All || Members > k_most_members) {
        return Members;
    } else if constexpr (k_takes_around<T, At, All - At - 1>) {
        return detail::count_members_from<T, All, At + 1, Members + 1>();
    } else {
        constexpr std::size_t k_width = detail::width_between<T, All, At, 2, All - At>();
        return detail::count_members_from<T, All, At + k_width, Members + 1>();
    }
}

/// The number of members of an aggregate without base classes whose members can be initialised with
/// {}. More than k_most_members: too many to be counted.
template <class T>
inline constexpr std::size_t k_member_count =
    detail::count_members_from<T, detail::count_initialisers<T>()>();

// NOLINTBEGIN(bugprone-macro-parentheses): names and types, not expressions
#define QUERN_MEMBER_NAMES_1 m0
#define QUERN_MEMBER_NAMES_2 QUERN_MEMBER_NAMES_1, m1
#define QUERN_MEMBER_NAMES_3 QUERN_MEMBER_NAMES_2, m2
#define QUERN_MEMBER_NAMES_4 QUERN_MEMBER_NAMES_3, m3
#define QUERN_MEMBER_NAMES_5 QUERN_MEMBER_NAMES_4, m4
#define QUERN_MEMBER_NAMES_6 QUERN_MEMBER_NAMES_5, m5
#define QUERN_MEMBER_NAMES_7 QUERN_MEMBER_NAMES_6, m6
#define QUERN_MEMBER_NAMES_8 QUERN_MEMBER_NAMES_7, m7
#define QUERN_MEMBER_NAMES_9 QUERN_MEMBER_NAMES_8, m8
#define QUERN_MEMBER_NAMES_10 QUERN_MEMBER_NAMES_9, m9
#define QUERN_MEMBER_NAMES_11 QUERN_MEMBER_NAMES_10, m10
#define QUERN_MEMBER_NAMES_12 QUERN_MEMBER_NAMES_11, m11
#define QUERN_MEMBER_NAMES_13 QUERN_MEMBER_NAMES_12, m12
#define QUERN_MEMBER_NAMES_14 QUERN_MEMBER_NAMES_13, m13
#define QUERN_MEMBER_NAMES_15 QUERN_MEMBER_NAMES_14, m14
#define QUERN_MEMBER_NAMES_16 QUERN_MEMBER_NAMES_15, m15
#define QUERN_MEMBER_NAMES_17 QUERN_MEMBER_NAMES_16, m16
#define QUERN_MEMBER_NAMES_18 QUERN_MEMBER_NAMES_17, m17
#define QUERN_MEMBER_NAMES_19 QUERN_MEMBER_NAMES_18, m18
#define QUERN_MEMBER_NAMES_20 QUERN_MEMBER_NAMES_19, m19
#define QUERN_MEMBER_NAMES_21 QUERN_MEMBER_NAMES_20, m20
#define QUERN_MEMBER_NAMES_22 QUERN_MEMBER_NAMES_21, m21
#define QUERN_MEMBER_NAMES_23 QUERN_MEMBER_NAMES_22, m22
#define QUERN_MEMBER_NAMES_24 QUERN_MEMBER_NAMES_23, m23
#define QUERN_MEMBER_NAMES_25 QUERN_MEMBER_NAMES_24, m24
#define QUERN_MEMBER_NAMES_26 QUERN_MEMBER_NAMES_25, m25
#define QUERN_MEMBER_NAMES_27 QUERN_MEMBER_NAMES_26, m26
#define QUERN_MEMBER_NAMES_28 QUERN_MEMBER_NAMES_27, m27
#define QUERN_MEMBER_NAMES_29 QUERN_MEMBER_NAMES_28, m28
#define QUERN_MEMBER_NAMES_30 QUERN_MEMBER_NAMES_29, m29
#define QUERN_MEMBER_NAMES_31 QUERN_MEMBER_NAMES_30, m30
#define QUERN_MEMBER_NAMES_32 QUERN_MEMBER_NAMES_31, m31
#define QUERN_MEMBER_TYPES_1 decltype(m0)
#define QUERN_MEMBER_TYPES_2 QUERN_MEMBER_TYPES_1, decltype(m1)
#define QUERN_MEMBER_TYPES_3 QUERN_MEMBER_TYPES_2, decltype(m2)
#define QUERN_MEMBER_TYPES_4 QUERN_MEMBER_TYPES_3, decltype(m3)
#define QUERN_MEMBER_TYPES_5 QUERN_MEMBER_TYPES_4, decltype(m4)
#define QUERN_MEMBER_TYPES_6 QUERN_MEMBER_TYPES_5, decltype(m5)
#define QUERN_MEMBER_TYPES_7 QUERN_MEMBER_TYPES_6, decltype(m6)
#define QUERN_MEMBER_TYPES_8 QUERN_MEMBER_TYPES_7, decltype(m7)
#define QUERN_MEMBER_TYPES_9 QUERN_MEMBER_TYPES_8, decltype(m8)
#define QUERN_MEMBER_TYPES_10 QUERN_MEMBER_TYPES_9, decltype(m9)
#define QUERN_MEMBER_TYPES_11 QUERN_MEMBER_TYPES_10, decltype(m10)
#define QUERN_MEMBER_TYPES_12 QUERN_MEMBER_TYPES_11, decltype(m11)
#define QUERN_MEMBER_TYPES_13 QUERN_MEMBER_TYPES_12, decltype(m12)
#define QUERN_MEMBER_TYPES_14 QUERN_MEMBER_TYPES_13, decltype(m13)
#define QUERN_MEMBER_TYPES_15 QUERN_MEMBER_TYPES_14, decltype(m14)
#define QUERN_MEMBER_TYPES_16 QUERN_MEMBER_TYPES_15, decltype(m15)
#define QUERN_MEMBER_TYPES_17 QUERN_MEMBER_TYPES_16, decltype(m16)
#define QUERN_MEMBER_TYPES_18 QUERN_MEMBER_TYPES_17, decltype(m17)
#define QUERN_MEMBER_TYPES_19 QUERN_MEMBER_TYPES_18, decltype(m18)
#define QUERN_MEMBER_TYPES_20 QUERN_MEMBER_TYPES_19, decltype(m19)
#define QUERN_MEMBER_TYPES_21 QUERN_MEMBER_TYPES_20, decltype(m20)
#define QUERN_MEMBER_TYPES_22 QUERN_MEMBER_TYPES_21, decltype(m21)
#define QUERN_MEMBER_TYPES_23 QUERN_MEMBER_TYPES_22, decltype(m22)
#define QUERN_MEMBER_TYPES_24 QUERN_MEMBER_TYPES_23, decltype(m23)
#define QUERN_MEMBER_TYPES_25 QUERN_MEMBER_TYPES_24, decltype(m24)
#define QUERN_MEMBER_TYPES_26 QUERN_MEMBER_TYPES_25, decltype(m25)
#define QUERN_MEMBER_TYPES_27 QUERN_MEMBER_TYPES_26, decltype(m26)
#define QUERN_MEMBER_TYPES_28 QUERN_MEMBER_TYPES_27, decltype(m27)
#define QUERN_MEMBER_TYPES_29 QUERN_MEMBER_TYPES_28, decltype(m28)
#define QUERN_MEMBER_TYPES_30 QUERN_MEMBER_TYPES_29, decltype(m29)
#define QUERN_MEMBER_TYPES_31 QUERN_MEMBER_TYPES_30, decltype(m30)
#define QUERN_MEMBER_TYPES_32 QUERN_MEMBER_TYPES_31, decltype(m31)

/// The types of the members, as declared: a type_list. Not to be called.
template <class T>
auto member_types_of(T& of) {
    constexpr std::size_t k_count = k_member_count<T>;
    if constexpr (k_count == 0) {
        return type_list<>{};
    }
#define QUERN_TYPES_OF(count)                                     \
    else if constexpr (k_count == count) {                        \
        [[maybe_unused]] auto& [QUERN_MEMBER_NAMES_##count] = of; \
        return type_list<QUERN_MEMBER_TYPES_##count>{};           \
    }
    // clang-format off
    QUERN_TYPES_OF(1) QUERN_TYPES_OF(2) QUERN_TYPES_OF(3) QUERN_TYPES_OF(4)
    QUERN_TYPES_OF(5) QUERN_TYPES_OF(6) QUERN_TYPES_OF(7) QUERN_TYPES_OF(8)
    QUERN_TYPES_OF(9) QUERN_TYPES_OF(10) QUERN_TYPES_OF(11) QUERN_TYPES_OF(12)
    QUERN_TYPES_OF(13) QUERN_TYPES_OF(14) QUERN_TYPES_OF(15) QUERN_TYPES_OF(16)
    QUERN_TYPES_OF(17) QUERN_TYPES_OF(18) QUERN_TYPES_OF(19) QUERN_TYPES_OF(20)
    QUERN_TYPES_OF(21) QUERN_TYPES_OF(22) QUERN_TYPES_OF(23) QUERN_TYPES_OF(24)
    QUERN_TYPES_OF(25) QUERN_TYPES_OF(26) QUERN_TYPES_OF(27) QUERN_TYPES_OF(28)
    QUERN_TYPES_OF(29) QUERN_TYPES_OF(30) QUERN_TYPES_OF(31) QUERN_TYPES_OF(32)
    // clang-format on
}
#undef QUERN_TYPES_OF

template <class T>
using member_types = decltype(detail::member_types_of(std::declval<T&>()));

/// Calls f(member) for each member of `of`, in order.
template <class T, class F>
void for_each_member(T& of, F&& f) {
    constexpr std::size_t k_count = k_member_count<std::remove_const_t<T>>;
    const auto call = [&f](auto&... members) { (f(members), ...); };
    if constexpr (k_count == 0) {
        static_cast<void>(of);
    }
#define QUERN_MEMBERS_OF(count)                  \
    else if constexpr (k_count == count) {       \
        auto& [QUERN_MEMBER_NAMES_##count] = of; \
        call(QUERN_MEMBER_NAMES_##count);        \
    }
    // clang-format off
    QUERN_MEMBERS_OF(1) QUERN_MEMBERS_OF(2) QUERN_MEMBERS_OF(3) QUERN_MEMBERS_OF(4)
    QUERN_MEMBERS_OF(5) QUERN_MEMBERS_OF(6) QUERN_MEMBERS_OF(7) QUERN_MEMBERS_OF(8)
    QUERN_MEMBERS_OF(9) QUERN_MEMBERS_OF(10) QUERN_MEMBERS_OF(11) QUERN_MEMBERS_OF(12)
    QUERN_MEMBERS_OF(13) QUERN_MEMBERS_OF(14) QUERN_MEMBERS_OF(15) QUERN_MEMBERS_OF(16)
    QUERN_MEMBERS_OF(17) QUERN_MEMBERS_OF(18) QUERN_MEMBERS_OF(19) QUERN_MEMBERS_OF(20)
    QUERN_MEMBERS_OF(21) QUERN_MEMBERS_OF(22) QUERN_MEMBERS_OF(23) QUERN_MEMBERS_OF(24)
    QUERN_MEMBERS_OF(25) QUERN_MEMBERS_OF(26) QUERN_MEMBERS_OF(27) QUERN_MEMBERS_OF(28)
    QUERN_MEMBERS_OF(29) QUERN_MEMBERS_OF(30) QUERN_MEMBERS_OF(31) QUERN_MEMBERS_OF(32)
    // clang-format on
}
#undef QUERN_MEMBERS_OF
// NOLINTEND(bugprone-macro-parentheses)

#undef QUERN_MEMBER_NAMES_1
#undef QUERN_MEMBER_NAMES_2
#undef QUERN_MEMBER_NAMES_3
#undef QUERN_MEMBER_NAMES_4
#undef QUERN_MEMBER_NAMES_5
#undef QUERN_MEMBER_NAMES_6
#undef QUERN_MEMBER_NAMES_7
#undef QUERN_MEMBER_NAMES_8
#undef QUERN_MEMBER_NAMES_9
#undef QUERN_MEMBER_NAMES_10
#undef QUERN_MEMBER_NAMES_11
#undef QUERN_MEMBER_NAMES_12
#undef QUERN_MEMBER_NAMES_13
#undef QUERN_MEMBER_NAMES_14
#undef QUERN_MEMBER_NAMES_15
#undef QUERN_MEMBER_NAMES_16
#undef QUERN_MEMBER_NAMES_17
#undef QUERN_MEMBER_NAMES_18
#undef QUERN_MEMBER_NAMES_19
#undef QUERN_MEMBER_NAMES_20
#undef QUERN_MEMBER_NAMES_21
#undef QUERN_MEMBER_NAMES_22
#undef QUERN_MEMBER_NAMES_23
#undef QUERN_MEMBER_NAMES_24
#undef QUERN_MEMBER_NAMES_25
#undef QUERN_MEMBER_NAMES_26
#undef QUERN_MEMBER_NAMES_27
#undef QUERN_MEMBER_NAMES_28
#undef QUERN_MEMBER_NAMES_29
#undef QUERN_MEMBER_NAMES_30
#undef QUERN_MEMBER_NAMES_31
#undef QUERN_MEMBER_NAMES_32
#undef QUERN_MEMBER_TYPES_1
#undef QUERN_MEMBER_TYPES_2
#undef QUERN_MEMBER_TYPES_3
#undef QUERN_MEMBER_TYPES_4
#undef QUERN_MEMBER_TYPES_5
#undef QUERN_MEMBER_TYPES_6
#undef QUERN_MEMBER_TYPES_7
#undef QUERN_MEMBER_TYPES_8
#undef QUERN_MEMBER_TYPES_9
#undef QUERN_MEMBER_TYPES_10
#undef QUERN_MEMBER_TYPES_11
#undef QUERN_MEMBER_TYPES_12
#undef QUERN_MEMBER_TYPES_13
#undef QUERN_MEMBER_TYPES_14
#undef QUERN_MEMBER_TYPES_15
#undef QUERN_MEMBER_TYPES_16
#undef QUERN_MEMBER_TYPES_17
#undef QUERN_MEMBER_TYPES_18
#undef QUERN_MEMBER_TYPES_19
#undef QUERN_MEMBER_TYPES_20
#undef QUERN_MEMBER_TYPES_21
#undef QUERN_MEMBER_TYPES_22
#undef QUERN_MEMBER_TYPES_23
#undef QUERN_MEMBER_TYPES_24
#undef QUERN_MEMBER_TYPES_25
#undef QUERN_MEMBER_TYPES_26
#undef QUERN_MEMBER_TYPES_27
#undef QUERN_MEMBER_TYPES_28
#undef QUERN_MEMBER_TYPES_29
#undef QUERN_MEMBER_TYPES_30
#undef QUERN_MEMBER_TYPES_31
#undef QUERN_MEMBER_TYPES_32

}  // namespace quern::localities::detail
