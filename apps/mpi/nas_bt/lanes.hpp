// SPDX-License-Identifier: BSL-1.0
// Two neighbouring lines of points are computed side by side, as vectors of two numbers, which
// every 64-bit processor has. A line without a neighbour stands in both places.
#pragma once

#include <array>
#include <cstddef>

namespace nas_bt {

using lanes = double __attribute__((vector_size(16)));
inline constexpr std::ptrdiff_t k_lanes = 2;

/// Density, momenta, energy. The momentum along the present direction comes first, see
/// order_of_components.
struct vector5 {
    lanes at[5];
};
struct block {
    lanes at[5][5];
};
/// What a line needs from the point before: x = right - upper * (x of the point after).
struct reduced {
    block upper;
    vector5 right;
};

/// The five components at a point.
using components = std::array<double*, 5>;

/// In direction d: with the momenta in this order the equations of all directions are the same.
inline constexpr std::array<std::size_t, 5> order_of_components(std::size_t d) {
    return {0, 1 + d, 1 + (d + 1) % 3, 1 + (d + 2) % 3, 4};
}

/// beside: from a line to the one beside it, or 0.
inline vector5 load(const components& from, std::ptrdiff_t at, std::ptrdiff_t beside) {
    vector5 v;
    for (std::size_t m = 0; m < 5; ++m) {
        v.at[m] = lanes{from[m][at], from[m][at + beside]};
    }
    return v;
}
inline void store(const vector5& v, const components& to, std::ptrdiff_t at,
                  std::ptrdiff_t beside) {
    for (std::size_t m = 0; m < 5; ++m) {
        to[m][at] = v.at[m][0];
        to[m][at + beside] = v.at[m][1];
    }
}

}  // namespace nas_bt
