// SPDX-License-Identifier: BSL-1.0
// Seeds and time limits of the stress tests. The seed is printed and can be set in
// TEST_STRESS_SEED; TEST_STRESS_SECONDS makes each case longer; TEST_STRESS_PROGRAMS runs exactly
// so many random programs in each case that counts them.
#pragma once

#include "unit/scheduler/on_runtime.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace quern_test {

inline std::uint64_t stress_seed() {
    static const std::uint64_t seed = [] {
        const char* given = std::getenv("TEST_STRESS_SEED");
        const std::uint64_t value =
            given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
        std::printf("[ stress   ] TEST_STRESS_SEED=%llu\n", static_cast<unsigned long long>(value));
        std::fflush(stdout);
        return value;
    }();
    return seed;
}

/// The end time of a stress test that begins now. A share of 1 takes TEST_STRESS_SECONDS.
inline std::chrono::steady_clock::time_point stress_end(double share = 1.0) {
    const char* given = std::getenv("TEST_STRESS_SECONDS");
    const double seconds = given != nullptr ? std::strtod(given, nullptr) : scaled(0.5, 0.3);
    return std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                                  std::chrono::duration<double>(share * seconds));
}

/// The random programs of a case: those that there is time for, but at least a few.
class program_loop {
public:
    explicit program_loop(std::uint64_t least) {
        if (const char* given = std::getenv("TEST_STRESS_PROGRAMS"); given != nullptr) {
            m_least = std::strtoull(given, nullptr, 10);
            m_end = {};
        } else {
            m_least = least;
        }
    }
    program_loop(const program_loop&) = delete;
    program_loop& operator=(const program_loop&) = delete;
    ~program_loop() {
        std::printf("[ stress   ] %llu programs\n", static_cast<unsigned long long>(m_begun));
    }

    /// Whether there is another one.
    bool next() noexcept {
        if (m_begun >= m_least && std::chrono::steady_clock::now() >= m_end) {
            return false;
        }
        ++m_begun;
        return true;
    }
    /// Of the one that next() has begun.
    std::uint64_t seed() const noexcept { return m_first_seed + m_begun - 1; }

private:
    std::uint64_t m_least;
    std::uint64_t m_begun = 0;
    std::uint64_t m_first_seed = stress_seed();
    std::chrono::steady_clock::time_point m_end = stress_end();
};

/// A small random generator that each part of a random program holds by value, so that its actions
/// depend only on the seed and not on the thread that runs it.
class dice {
public:
    explicit dice(std::uint64_t seed) noexcept : m_state(seed * 0x9E3779B97F4A7C15ULL + 1) {}

    std::uint32_t below(std::uint32_t bound) noexcept {
        m_state ^= m_state >> 12;
        m_state ^= m_state << 25;
        m_state ^= m_state >> 27;
        return static_cast<std::uint32_t>(((m_state * 0x2545F4914F6CDD1DULL) >> 33) % bound);
    }
    dice child(std::uint32_t number) noexcept { return dice(m_state + 77 * number + 1); }

private:
    std::uint64_t m_state;
};

}  // namespace quern_test
