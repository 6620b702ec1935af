// SPDX-License-Identifier: BSL-1.0
// Values as bytes, for calls of functions at other localities: parcels. Which types can travel:
// - numbers, enumerations, and the types of the standard library that own what they hold: strings,
//   containers, pair, tuple, optional, variant, complex, chrono, bitset, unique_ptr, shared_ptr;
// - types with functions for serialisation as cereal has them (https://uscilab.github.io/cereal): a
//   member or free serialize(archive), or save and load; private ones with friend cereal::access;
// - aggregates of up to 32 members that can travel, without any such function;
// - other trivially copyable classes without such functions, which are copied as their bytes; their
//   private members are not seen, so that those that are addresses are the program's
//   responsibility;
// - std::stop_token, also in what is listed above, but only as an argument of a call: run_at,
//   post_to, object::call, object::post.
#pragma once

#include <quern/localities/detail/associative.hpp>
#include <quern/localities/detail/chunks.hpp>
#include <quern/localities/detail/encoding.hpp>
#include <quern/localities/detail/pointers.hpp>
#include <quern/localities/detail/streams.hpp>
#include <quern/localities/detail/travel.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <variant>

// Whether each value is written with its type, and reading another type is an archive_error. All
// sources of a program, and the programs at all localities, must have the same value.
#if !defined(QUERN_CHECKED_ARCHIVES)
#    if defined(NDEBUG)
#        define QUERN_CHECKED_ARCHIVES 0
#    else
#        define QUERN_CHECKED_ARCHIVES 1
#    endif
#endif

namespace quern::localities {

/// Whether a T can be sent to another locality: as argument, as result, and in whatever else has
/// values. A type that has functions for serialisation can; it need only be default-constructible.
/// Those functions must be declared before the first question.
///
///     struct point { double x, y; };
///     static_assert(quern::localities::can_travel<std::vector<point>>);
///     static_assert(!quern::localities::can_travel<const char*>);
///     static_assert(!quern::localities::can_travel<std::stop_token>);  // only as an argument
template <class T>
concept can_travel = detail::k_has_no_obstacle<T>;

/// Does not compile for a type that cannot travel, and says why not.
template <class T>
constexpr void require_can_travel() {
    decltype(detail::find_obstacle<T>())::report();
}

namespace detail {

using localities::require_can_travel;

/// The same for an argument of a call, which may be or have stop tokens.
template <class T>
constexpr void require_argument() {
    if constexpr (!can_be_argument<T>) {
        decltype(detail::find_obstacle<T, in_argument>())::report();
    }
}

inline constexpr bool k_checked_archives = QUERN_CHECKED_ARCHIVES != 0;

/// Of a type, the same in each process of a program: the size, or 65535, and a hash of the name.
template <class T>
consteval std::uint32_t tag_of() {
    std::uint32_t hash = 2166136261U;  // FNV-1a
    for (const char c : std::string_view(__PRETTY_FUNCTION__)) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    }
    constexpr std::size_t k_largest = 0xffff;
    constexpr std::size_t k_size = sizeof(T) < k_largest ? sizeof(T) : k_largest;
    return ((hash ^ (hash << 16U)) & 0xffff0000U) | static_cast<std::uint32_t>(k_size);
}

[[noreturn]] QUERN_COLD inline void refuse_tag(const reader& from, std::uint32_t tag,
                                               const std::type_info& wanted, std::size_t size) {
    from.fail("a value of type " + cereal::util::demangle(wanted.name()) + " of " +
              std::to_string(size) + " bytes is read, and the sender wrote another type, of " +
              std::to_string(tag & 0xffffU) +
              " bytes: the receiver must read the types that "
              "were written, in the same order");
}

/// The encoded size of values of these types, in bytes, if it is the same for all values: what
/// write() appends for them. 0: it depends on the values.
template <class... T>
inline constexpr std::size_t k_fixed_size = detail::fixed_size_of_all(type_list<T...>{}) == 0
                                                ? 0
                                                : detail::fixed_size_of_all(type_list<T...>{}) +
                                                      (k_checked_archives
                                                           ? sizeof...(T) * sizeof(std::uint32_t)
                                                           : 0);

/// Appends a value: an argument or a result of a call. Throws archive_error, also for a stop token
/// that is no argument; std::bad_alloc; what its functions throw. Cost for what is copied as bytes:
/// a comparison and the copy.
template <class T>
void write(writer& to, const T& value) {
    if constexpr (!can_be_argument<T>) {
        detail::require_argument<T>();
    } else {
        if constexpr (k_checked_archives) {
            const std::uint32_t tag = detail::tag_of<T>();
            to.put(&tag, sizeof tag);
        }
        if constexpr (as_bytes<T>) {
            detail::put_item(to, value);
        } else {
            try {
                detail::put_item(to, value);
            } catch (const cereal::Exception& error) {
                throw archive_error(error.what());
            } catch (const std::bad_variant_access&) {
                throw archive_error("a std::variant without a value cannot be written");
            }
        }
    }
}

/// Reads the next value, which must have been written as a T. Errors: as reader.
template <class T>
void read(reader& from, T& value) {
    if constexpr (!can_be_argument<T>) {
        detail::require_argument<T>();
    } else {
        if constexpr (k_checked_archives) {
            std::uint32_t tag = 0;
            from.take(&tag, sizeof tag, typeid(T));
            if (tag != detail::tag_of<T>()) [[unlikely]] {
                detail::refuse_tag(from, tag, typeid(T), sizeof(T));
            }
        }
        if constexpr (as_bytes<T>) {
            detail::take_item(from, value);
        } else {
            try {
                detail::take_item(from, value);
            } catch (const cereal::Exception& error) {
                from.fail(error.what());
            }
        }
    }
}

}  // namespace detail
}  // namespace quern::localities
