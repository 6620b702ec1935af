// SPDX-License-Identifier: BSL-1.0
// The matrix of pseudo-random numbers that the linear algebra is done with: each number by itself,
// so that each rank and task can make its own part.
#pragma once

#include <cstddef>
#include <cstdint>

namespace apps::dense {

/// The number in row r and column c of the matrix: from -0.5 to 0.5, and `diagonal` more on the
/// diagonal.
inline double element(std::size_t r, std::size_t c, double diagonal) {
    std::uint64_t z = (std::uint64_t{r} << 32) + c;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    z ^= z >> 31;
    constexpr double k_scale = 1.0 / 9007199254740992.0;  // 2^-53
    return static_cast<double>(z >> 11) * k_scale - 0.5 + (r == c ? diagonal : 0);
}

}  // namespace apps::dense
