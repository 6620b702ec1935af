// SPDX-License-Identifier: BSL-1.0
// Which types can travel. A type that cannot is refused at compile time with the reason and, in the
// name of the function that is instantiated, the member that is the reason.
#pragma once

#include <quern/localities/detail/kinds.hpp>

#include <cereal/access.hpp>

#include <cstddef>
#include <stop_token>
#include <type_traits>
#include <utility>

namespace quern::localities::detail {

/// Why a type cannot travel.
enum class obstacle {
    none,
    pointer,
    reference,
    address,
    constant,
    base,
    members,
    polymorphic,
    stop,
    no_default,
    no_functions
};

/// Fails to compile, with the reason. `Part`: the type that is the reason. `Of`: what it is in.
template <obstacle Why, class Part, class... Of>
constexpr void report_obstacle() {
    static_assert(Why != obstacle::pointer,
                  "quern: localities: this type is or has a pointer, and an address means nothing "
                  "at another locality: send the value that it points to, a std::vector of values, "
                  "a std::unique_ptr or an index");
    static_assert(Why != obstacle::reference,
                  "quern: localities: this type is or has a reference, and an address means "
                  "nothing at another locality: send the value");
    static_assert(
        Why != obstacle::address,
        "quern: localities: this type refers to memory of its process, such as a view, "
        "an iterator or a handle: send what it refers to, a std::vector or a std::string");
    static_assert(Why != obstacle::constant,
                  "quern: localities: this type has a const or volatile member, which cannot be "
                  "read into: remove the qualifier, or give the type save(archive) const and "
                  "load(archive)");
    static_assert(Why != obstacle::base,
                  "quern: localities: this aggregate has a base class and cannot be taken apart: "
                  "give it a member template <class A> void serialize(A& archive) { "
                  "archive(cereal::base_class<base>(this), member...); }");
    static_assert(Why != obstacle::members,
                  "quern: localities: this aggregate has more than 32 members and cannot be taken "
                  "apart: give it a member template <class A> void serialize(A& archive) { "
                  "archive(member...); }");
    static_assert(
        Why != obstacle::polymorphic,
        "quern: localities: a pointer to a class with virtual functions cannot travel, as "
        "its object may be of a derived class: send a std::variant of the classes");
    static_assert(Why != obstacle::stop,
                  "quern: localities: this type is or has a stop token, which travels as an "
                  "argument of run_at, post_to, object::call and object::post and in no other way; "
                  "or it has a stop source, which stays where it was made: send its token, as such "
                  "an argument");
    static_assert(Why != obstacle::no_default,
                  "quern: localities: this type must be default-constructible, as it is read into "
                  "an object that exists: give it a constructor without arguments");
    static_assert(Why != obstacle::no_functions,
                  "quern: localities: this type has neither serialize(archive) nor only members "
                  "that can travel: give it a member template <class A> void serialize(A& archive) "
                  "{ archive(member...); }, or, for a type of the standard library or of another "
                  "library, free functions save and load in the namespace of the type");
}

/// `Of`: the types that the part is in, the innermost first.
template <obstacle Why, class Part, class... Of>
struct found_obstacle {
    static constexpr bool is_one = Why != obstacle::none;
    static constexpr void report() { detail::report_obstacle<Why, Part, Of...>(); }
};

template <obstacle Why, class T, class... Of>
consteval auto found() {
    return found_obstacle<Why, T, Of...>{};
}

template <class T, class... Seen>
consteval auto find_obstacle();

template <class... Seen>
consteval auto find_in_parts(type_list<>) {
    return detail::found<obstacle::none, void>();
}
template <class... Seen, class First, class... Rest>
consteval auto find_in_parts(type_list<First, Rest...>) {
    using first = decltype(detail::find_obstacle<First, Seen...>());
    if constexpr (first::is_one) {
        return first{};
    } else {
        return detail::find_in_parts<Seen...>(type_list<Rest...>{});
    }
}

/// Of what a pointer owns. It is made by cereal, which may use a private constructor.
template <class T, class... Seen>
consteval auto find_in_pointee() {
    if constexpr (std::is_array_v<T> || std::is_void_v<T> || std::is_function_v<T>) {
        return detail::found<obstacle::no_functions, T, Seen...>();
    } else if constexpr (std::is_polymorphic_v<T>) {
        return detail::found<obstacle::polymorphic, T, Seen...>();
    } else if constexpr (!cereal::traits::is_default_constructible<std::remove_const_t<T>>::value) {
        return detail::found<obstacle::no_default, T, Seen...>();
    } else {
        return detail::find_obstacle<std::remove_const_t<T>, Seen...>();
    }
}

/// Of a class without functions.
template <class T, class... Seen>
consteval auto find_in_plain() {
    if constexpr (!std::is_aggregate_v<T>) {
        return detail::found < has_addresses<T> ? obstacle::address : obstacle::none, T > ();
    } else if constexpr (std::is_empty_v<T>) {
        return detail::found<obstacle::none, T, Seen...>();
    } else if constexpr (has_base<T>) {
        return detail::found<obstacle::base, T, Seen...>();
    } else if constexpr (k_member_count<T> > k_most_members) {
        return detail::found<obstacle::members, T, Seen...>();
    } else {
        return detail::find_in_parts<T, Seen...>(member_types<T>{});
    }
}

/// In place of the outermost type that is `Seen`: what is looked at is an argument of a call.
struct in_argument {};

template <class T, class... Seen>
consteval bool is_stop_where_none_can_be() {
    return std::is_same_v<T, std::stop_source> ||
           (std::is_same_v<T, std::stop_token> && !(std::is_same_v<Seen, in_argument> || ...));
}

template <class T, class... Seen>
consteval auto find_in_class() {
    if constexpr (detail::is_stop_where_none_can_be<T, Seen...>()) {
        return detail::found<obstacle::stop, T, Seen...>();
    } else if constexpr (has_addresses<T> && !parts_of<T>::is_known && !has_functions<T>) {
        return detail::found<obstacle::address, T, Seen...>();
    } else if constexpr (requires { typename parts_of<T>::pointee; }) {
        return detail::find_in_pointee<typename parts_of<T>::pointee, T, Seen...>();
    } else if constexpr (!std::is_default_constructible_v<T>) {
        return detail::found<obstacle::no_default, T, Seen...>();
    } else if constexpr (parts_of<T>::is_known) {
        return detail::find_in_parts<T, Seen...>(typename parts_of<T>::types{});
    } else if constexpr (is_plain<T>) {
        return detail::find_in_plain<T, Seen...>();
    } else if constexpr (has_functions<T> || std::is_empty_v<T>) {
        return detail::found<obstacle::none, T, Seen...>();
    } else {
        return detail::found<obstacle::no_functions, T, Seen...>();
    }
}

/// The first obstacle in T. `Seen`: the types that T is a part of; a type may contain itself.
template <class T, class... Seen>
consteval auto find_obstacle() {
    constexpr bool k_is_number = std::is_arithmetic_v<T> || std::is_enum_v<T>;
    constexpr bool k_is_qualified = std::is_const_v<T> || std::is_volatile_v<T>;
    if constexpr ((std::is_same_v<T, Seen> || ...) || (k_is_number && !k_is_qualified)) {
        return detail::found<obstacle::none, T, Seen...>();
    } else if constexpr (std::is_reference_v<T>) {
        return detail::found<obstacle::reference, T, Seen...>();
    } else if constexpr (std::is_pointer_v<T> || std::is_member_pointer_v<T> ||
                         std::is_null_pointer_v<T>) {
        return detail::found<obstacle::pointer, T, Seen...>();
    } else if constexpr (k_is_qualified) {
        return detail::found<obstacle::constant, T, Seen...>();
    } else if constexpr (std::is_bounded_array_v<T>) {
        return detail::find_obstacle<std::remove_all_extents_t<T>, Seen...>();
    } else if constexpr (std::is_class_v<T>) {
        return detail::find_in_class<T, Seen...>();
    } else {
        return detail::found<obstacle::no_functions, T, Seen...>();
    }
}

template <class T>
inline constexpr bool k_has_no_obstacle = !decltype(detail::find_obstacle<T>())::is_one;
/// The same of an argument, which may be or have stop tokens.
template <class T>
concept can_be_argument =
    k_has_no_obstacle<T> || !decltype(detail::find_obstacle<T, in_argument>())::is_one;

/// The encoded size of a T if it is the same for all values; else 0.
template <class T>
consteval std::size_t fixed_size_of();

template <class... T>
consteval std::size_t fixed_size_of_all(type_list<T...>) {
    const bool is_fixed = ((detail::fixed_size_of<T>() != 0) && ...);
    return is_fixed ? (detail::fixed_size_of<T>() + ... + std::size_t{0}) : 0;
}

template <class T>
struct is_pair_or_tuple : std::false_type {};
template <class... T>
struct is_pair_or_tuple<std::pair<T...>> : std::true_type {};
template <class... T>
struct is_pair_or_tuple<std::tuple<T...>> : std::true_type {};

template <class T>
consteval std::size_t fixed_size_of() {
    if constexpr (as_bytes<T> || std::is_arithmetic_v<T> || std::is_enum_v<T>) {
        return sizeof(T);
    } else if constexpr (is_pair_or_tuple<T>::value) {
        return detail::fixed_size_of_all(typename parts_of<T>::types{});
    } else if constexpr (is_plain<T> && is_divisible<T>) {
        return detail::fixed_size_of_all(member_types<T>{});
    } else {
        return 0;
    }
}

}  // namespace quern::localities::detail
