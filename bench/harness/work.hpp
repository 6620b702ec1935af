// SPDX-License-Identifier: BSL-1.0
// Work that takes a known time: arithmetic that touches no memory. It is measured in steps and not
// by the clock, so that a task that loses its core takes longer, as real work does.
#pragma once

#include "harness.hpp"

#include <algorithm>
#include <cstdint>

namespace bench {

/// `steps` dependent multiplications. The result depends on all of them.
[[gnu::noinline]] inline std::uint64_t work(long steps) noexcept {
    std::uint64_t x = 1;
    for (long i = 0; i < steps; ++i) {
        x = x * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX generator
        asm volatile("" : "+r"(x));
    }
    return x;
}

/// The number of steps that take that long on a free core: the fastest of several tries. Takes
/// about 10 ms, the first time. Call it while nothing else runs.
inline long steps_for(double seconds) {
    static const double each = [] {
        constexpr long k_steps = 200'000;
        double least = 1;
        for (int i = 0; i < 40; ++i) {
            const double start = now();
            work(k_steps);
            least = std::min(least, now() - start);
        }
        return least / k_steps;
    }();
    return static_cast<long>(seconds / each);
}

}  // namespace bench
