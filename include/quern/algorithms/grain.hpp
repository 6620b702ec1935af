// SPDX-License-Identifier: BSL-1.0
// The grain of a loop: how many iterations run in one piece.
#pragma once

#include <cstddef>

namespace quern {

/// Iterations between two checks for requests to steal.
struct grain {
    std::size_t iterations = 0;  ///< 0: chosen at run time, so that a check costs under 1 %
    static grain automatic() noexcept { return {}; }
    static grain fixed(std::size_t n) noexcept { return {n == 0 ? 1 : n}; }
};

}  // namespace quern
