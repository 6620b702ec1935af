// SPDX-License-Identifier: BSL-1.0
#include <quern/arrays/dtype.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace quern::arrays {

dtype promote(dtype a, dtype b) noexcept {
    const auto [low, high] = std::minmax(a, b);
    // The order of the enumeration is NumPy's, but for integers with float32, which cannot hold
    // them.
    return is_integer(low) && high == dtype::float32 ? dtype::float64 : high;
}

std::size_t size_of(dtype type) noexcept {
    constexpr std::array<std::size_t, 5> k_sizes = {1, 4, 8, 4, 8};
    return k_sizes[static_cast<std::size_t>(type)];
}

std::string_view name_of(dtype type) noexcept {
    constexpr std::array<std::string_view, 5> k_names = {"bool", "int32", "int64", "float32",
                                                         "float64"};
    return k_names[static_cast<std::size_t>(type)];
}

std::optional<dtype> dtype_named(std::string_view name) noexcept {
    if (name == "int") return dtype::int64;
    if (name == "float") return dtype::float64;
    for (const dtype type :
         {dtype::boolean, dtype::int32, dtype::int64, dtype::float32, dtype::float64}) {
        if (name == name_of(type)) return type;
    }
    return std::nullopt;
}

}  // namespace quern::arrays
