// SPDX-License-Identifier: BSL-1.0
// For stress tests of several parts: a share of the time for each, and independent random choices.
#pragma once

#include "seed.hpp"

#include <quern/base/detail/rng.hpp>

#include <chrono>
#include <cstdint>

namespace quern_test {

/// A generator for one part of a test; parts with different numbers are independent.
inline quern::detail::rng random_for(std::uint64_t part) {
    constexpr std::uint64_t k_spread = 0x9E3779B97F4A7C15ULL;  // 2^64 / golden ratio: no pattern
    quern::detail::rng r(stress_seed() + k_spread * (part + 1));
    r.next();
    return r;
}

/// Reports when a part has run for its share of the time.
class stopwatch {
public:
    explicit stopwatch(double share) : m_end(stress_end(share)) {}

    bool running() const { return std::chrono::steady_clock::now() < m_end; }

private:
    std::chrono::steady_clock::time_point m_end;
};

}  // namespace quern_test
