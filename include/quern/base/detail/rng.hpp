// SPDX-License-Identifier: BSL-1.0
// A tiny random generator where spread matters more than quality: the first victim of a thief.
// xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators", 2016).
#pragma once

#include <cstdint>

namespace quern::detail {

class rng {
public:
    explicit rng(std::uint64_t seed) noexcept : m_state(seed * 2 + 1) {}

    std::uint64_t next() noexcept {
        m_state ^= m_state >> 12;
        m_state ^= m_state << 25;
        m_state ^= m_state >> 27;
        return m_state * 0x2545F4914F6CDD1DULL;
    }

    /// A number in [0, bound). Requires: bound > 0.
    std::uint32_t below(std::uint32_t bound) noexcept {
        return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
    }

private:
    std::uint64_t m_state;
};

}  // namespace quern::detail
