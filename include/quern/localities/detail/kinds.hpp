// SPDX-License-Identifier: BSL-1.0
// How a type is written: as its bytes, member by member, as a type of the standard library that the
// archive knows, or by functions for serialisation. Decided at compile time.
#pragma once

#include <quern/localities/detail/aggregate.hpp>
#include <quern/localities/detail/streams.hpp>

#include <array>
#include <bitset>
#include <chrono>
#include <complex>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <deque>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <set>
#include <stop_token>
#include <string>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace quern::localities {

/// Whether an object of this type refers to memory of its process, although it can be copied as
/// bytes: views, iterators and the like. They cannot travel. Specialise it as true for a type of
/// your own that holds an address in private members.
template <class T>
inline constexpr bool has_addresses = std::ranges::view<T> ||
                                      std::is_base_of_v<std::ranges::view_base, T> ||
                                      (!std::is_aggregate_v<T> && requires(T & x) { *x; });
template <class T>
inline constexpr bool has_addresses<std::reference_wrapper<T>> = true;
template <class T>
inline constexpr bool has_addresses<std::coroutine_handle<T>> = true;
template <>
inline constexpr bool has_addresses<std::type_index> = true;
template <>
inline constexpr bool has_addresses<std::error_code> = true;
template <>
inline constexpr bool has_addresses<std::error_condition> = true;

namespace detail {

/// Of a type of the standard library that the archive knows: the types of what it holds.
template <class T>
struct parts_of {
    static constexpr bool is_known = false;
};
template <class... T>
struct known_parts {
    static constexpr bool is_known = true;
    static constexpr bool is_sum = false;
    using types = type_list<T...>;
};
/// Its bytes are those of its parts.
template <class... T>
struct sum_of_parts : known_parts<T...> {
    static constexpr bool is_sum = true;
};
// clang-format off
template <class T, class A> struct parts_of<std::vector<T, A>> : known_parts<T> {};
template <class T, class A> struct parts_of<std::deque<T, A>> : known_parts<T> {};
template <class T, class A> struct parts_of<std::list<T, A>> : known_parts<T> {};
template <class T, class A> struct parts_of<std::forward_list<T, A>> : known_parts<T> {};
template <class... T> struct parts_of<std::basic_string<T...>> : known_parts<> {};
template <class K, class... T> struct parts_of<std::set<K, T...>> : known_parts<K> {};
template <class K, class... T> struct parts_of<std::multiset<K, T...>> : known_parts<K> {};
template <class K, class... T> struct parts_of<std::unordered_set<K, T...>> : known_parts<K> {};
template <class K, class... T> struct parts_of<std::unordered_multiset<K, T...>> : known_parts<K> {};
template <class K, class V, class... T> struct parts_of<std::map<K, V, T...>> : known_parts<K, V> {};
template <class K, class V, class... T> struct parts_of<std::multimap<K, V, T...>> : known_parts<K, V> {};
template <class K, class V, class... T> struct parts_of<std::unordered_map<K, V, T...>> : known_parts<K, V> {};
template <class K, class V, class... T> struct parts_of<std::unordered_multimap<K, V, T...>> : known_parts<K, V> {};
template <class T, std::size_t N> struct parts_of<std::array<T, N>> : sum_of_parts<T> {};
template <class... T> struct parts_of<std::pair<T...>> : known_parts<T...> {};
template <class... T> struct parts_of<std::tuple<T...>> : known_parts<T...> {};
template <class T> struct parts_of<std::optional<T>> : known_parts<T> {};
template <class... T> struct parts_of<std::variant<T...>> : known_parts<T...> {};
template <> struct parts_of<std::monostate> : known_parts<> {};
template <> struct parts_of<std::stop_token> : known_parts<> {};
template <class T> struct parts_of<std::complex<T>> : sum_of_parts<T> {};
template <class R, class P> struct parts_of<std::chrono::duration<R, P>> : sum_of_parts<R> {};
template <class C, class D> struct parts_of<std::chrono::time_point<C, D>> : sum_of_parts<D> {};
template <std::size_t N> struct parts_of<std::bitset<N>> : known_parts<> {};
template <class T> struct parts_of<std::unique_ptr<T>> : known_parts<> { using pointee = T; };
template <class T> struct parts_of<std::shared_ptr<T>> : known_parts<> { using pointee = T; };
template <class T> struct parts_of<std::weak_ptr<T>> : known_parts<> { using pointee = T; };
// clang-format on

/// A class of cereal around something, which is no item of its own.
template <class T>
inline constexpr bool is_wrapper = std::is_base_of_v<cereal::detail::NameValuePairCore, T>;
template <class T>
inline constexpr bool is_wrapper<cereal::SizeTag<T>> = true;
template <class T>
inline constexpr bool is_wrapper<cereal::BinaryData<T>> = true;
template <class K, class V>
inline constexpr bool is_wrapper<cereal::MapItem<K, V>> = true;
template <class T>
inline constexpr bool is_wrapper<cereal::DeferredData<T>> = true;
template <class T>
inline constexpr bool is_wrapper<cereal::base_class<T>> = true;
template <class T>
inline constexpr bool is_wrapper<cereal::virtual_base_class<T>> = true;

/// In place of a writer where functions for serialisation are looked for. Those below that are for
/// types without such functions do not take it.
struct probe : writer {};

/// Whether cereal finds a function that saves a T: serialize, save or save_minimal, a member or
/// not, with or without a version; also that of a type of the standard library.
template <class T>
concept has_functions = cereal::traits::detail::count_output_serializers<T, probe>::value != 0;

/// A class that the archive looks into or copies, as it has no functions for serialisation.
template <class T>
concept is_plain = std::is_class_v<T> && !parts_of<T>::is_known && !is_wrapper<T> &&
                   !has_functions<T> && (std::is_aggregate_v<T> || std::is_trivially_copyable_v<T>);

/// An aggregate that the archive can take apart.
template <class T>
concept is_divisible =
    std::is_aggregate_v<T> && std::is_default_constructible_v<T> && !has_base<T> &&
    (k_member_count<T> <= k_most_members);

template <class T>
consteval bool is_made_of_bytes();

template <class... T>
consteval bool are_made_of_bytes(type_list<T...>) {
    return (detail::is_made_of_bytes<T>() && ...);
}

/// Whether each value of T is the same as its bytes and all bytes are a value, so that it is
/// copied. Not bool, which has invalid representations.
template <class T>
consteval bool is_made_of_bytes() {
    if constexpr (std::is_enum_v<T>) {
        return detail::is_made_of_bytes<std::underlying_type_t<T>>();
    } else if constexpr (std::is_arithmetic_v<T>) {
        return !std::is_same_v<std::remove_cv_t<T>, bool>;
    } else if constexpr (std::is_array_v<T>) {
        return detail::is_made_of_bytes<std::remove_all_extents_t<T>>();
    } else if constexpr (!std::is_trivially_copyable_v<T> ||
                         !(parts_of<T>::is_known || is_plain<T>)) {
        return false;
    } else if constexpr (parts_of<T>::is_known) {
        return parts_of<T>::is_sum && detail::are_made_of_bytes(typename parts_of<T>::types{});
    } else if constexpr (std::is_empty_v<T>) {
        return true;
    } else if constexpr (is_divisible<T>) {
        return detail::are_made_of_bytes(member_types<T>{});
    } else {
        return !std::is_aggregate_v<T> && !has_addresses<T>;
    }
}

template <class T>
concept as_bytes = detail::is_made_of_bytes<T>();

/// Whether chunks may be received inside of a T.
template <class T>
inline constexpr bool is_kept_in_place =
    parts_of<T>::is_known || is_plain<T> || is_read_in_place<T>;

}  // namespace detail
}  // namespace quern::localities
