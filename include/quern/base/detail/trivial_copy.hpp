// SPDX-License-Identifier: BSL-1.0
// Whether copies of an object cost no more than its bytes. std::is_trivially_copyable does not say
// that: a type may be trivially copyable and have no copy at all. Used wherever a function object,
// a value or an element is copied because that is cheap; never to decide about destructors.
#pragma once

#include <quern/base/detail/config.hpp>

#include <type_traits>

namespace quern::detail {

/// An object that can be copied, by its bytes.
template <class T>
inline constexpr bool k_copies_trivially =
    std::is_trivially_copyable_v<T>&& std::is_copy_constructible_v<T>;

/// Elements that can be copied and assigned, by their bytes.
template <class T>
inline constexpr bool k_is_plain_data = k_copies_trivially<T>&& std::is_copy_assignable_v<T>;

}  // namespace quern::detail
