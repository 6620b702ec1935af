// SPDX-License-Identifier: BSL-1.0
// Conversions of elements.
#include "kernels/loops.hpp"

namespace quern::arrays::detail {

namespace {

template <class To>
struct converted {
    template <class From>
    static To of(From a) noexcept {
        if constexpr (std::is_same_v<To, bool>) {
            return a != From{};
        } else {
            return static_cast<To>(a);
        }
    }
};

using casts_of_type = std::array<kernel_loop, 5>;

template <class From, class... To>
constexpr casts_of_type casts_from(std::tuple<To...>*) {
    return {&unary_loop<converted<To>, From>...};
}

template <class... From>
constexpr std::array<casts_of_type, 5> all_casts(std::tuple<From...>* types) {
    return {casts_from<From>(types)...};
}

constexpr std::array<casts_of_type, 5> k_casts = all_casts(static_cast<all_types*>(nullptr));

}  // namespace

kernel_loop cast_loop(dtype from, dtype to) noexcept {
    return from == to ? nullptr
                      : k_casts[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
}

kernel_loop copy_loop(dtype type) noexcept {
    return k_casts[static_cast<std::size_t>(type)][static_cast<std::size_t>(type)];
}

}  // namespace quern::arrays::detail
