// SPDX-License-Identifier: BSL-1.0
// The element types of arrays, and NumPy 2's rules of promotion.
#pragma once

#include <quern/base/detail/config.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace quern::arrays {

/// What an array's elements are. Booleans take one byte, 0 or 1.
enum class dtype : std::uint8_t { boolean, int32, int64, float32, float64 };

/// The type that operations on two arrays of these types have, by NumPy's table: the smallest that
/// holds both, float64 for int32 with float32. Symmetric, associative but for float32 among
/// integers, as in NumPy. Thread safe; some ns.
dtype promote(dtype a, dtype b) noexcept;

/// Bytes of an element.
std::size_t size_of(dtype type) noexcept;

constexpr bool is_float(dtype type) noexcept { return type >= dtype::float32; }
constexpr bool is_integer(dtype type) noexcept {
    return type == dtype::int32 || type == dtype::int64;
}

/// NumPy's name: "bool", "int32", "int64", "float32", "float64".
std::string_view name_of(dtype type) noexcept;

/// The type of that name; also "int" (int64) and "float" (float64). Empty: there is none.
std::optional<dtype> dtype_named(std::string_view name) noexcept;

/// The dtype of a C++ type: bool, std::int32_t, std::int64_t, float, double.
template <class T>
inline constexpr dtype dtype_of = T::there_is_no_dtype_of_this_type;  // NOLINT
template <>
inline constexpr dtype dtype_of<bool> = dtype::boolean;  // NOLINT
template <>
inline constexpr dtype dtype_of<std::int32_t> = dtype::int32;  // NOLINT
template <>
inline constexpr dtype dtype_of<std::int64_t> = dtype::int64;  // NOLINT
template <>
inline constexpr dtype dtype_of<float> = dtype::float32;  // NOLINT
template <>
inline constexpr dtype dtype_of<double> = dtype::float64;  // NOLINT

}  // namespace quern::arrays
