// SPDX-License-Identifier: BSL-1.0
// SHA-1 (FIPS 180-4, section 6.1) of messages that fit into one block: the tree search hashes 20
// and 24 bytes. Input and output words are in big-endian order, numbered as in the standard. Not
// for security.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace uts {

/// A digest as five words.
using digest = std::array<std::uint32_t, 5>;

namespace detail {

constexpr std::uint32_t choose(std::uint32_t b, std::uint32_t c, std::uint32_t d) noexcept {
    return d ^ (b & (c ^ d));
}
constexpr std::uint32_t parity(std::uint32_t b, std::uint32_t c, std::uint32_t d) noexcept {
    return b ^ c ^ d;
}
constexpr std::uint32_t majority(std::uint32_t b, std::uint32_t c, std::uint32_t d) noexcept {
    return (b & c) | (d & (b | c));
}

/// The message schedule in a window of the last sixteen words.
using schedule = std::array<std::uint32_t, 16>;

template <std::size_t T>
[[gnu::always_inline]] inline std::uint32_t word(schedule& w) noexcept {
    if constexpr (T >= 16) {
        w[T % 16] = std::rotl(w[(T - 3) % 16] ^ w[(T - 8) % 16] ^ w[(T - 14) % 16] ^ w[T % 16], 1);
    }
    return w[T % 16];
}

/// One round; the caller renames the variables instead of moving their values.
template <std::size_t T>
[[gnu::always_inline]] inline void round(schedule& w, std::uint32_t a, std::uint32_t& b,
                                         std::uint32_t c, std::uint32_t d,
                                         std::uint32_t& e) noexcept {
    if constexpr (T < 20) {
        e += choose(b, c, d) + 0x5a827999U;
    } else if constexpr (T < 40) {
        e += parity(b, c, d) + 0x6ed9eba1U;
    } else if constexpr (T < 60) {
        e += majority(b, c, d) + 0x8f1bbcdcU;
    } else {
        e += parity(b, c, d) + 0xca62c1d6U;
    }
    e += std::rotl(a, 5) + word<T>(w);
    b = std::rotl(b, 30);
}

template <std::size_t T>
[[gnu::always_inline]] inline void rounds(schedule& w, std::uint32_t& a, std::uint32_t& b,
                                          std::uint32_t& c, std::uint32_t& d,
                                          std::uint32_t& e) noexcept {
    round<T>(w, a, b, c, d, e);
    round<T + 1>(w, e, a, b, c, d);
    round<T + 2>(w, d, e, a, b, c);
    round<T + 3>(w, c, d, e, a, b);
    round<T + 4>(w, b, c, d, e, a);
    if constexpr (T + 5 < 80) {
        rounds<T + 5>(w, a, b, c, d, e);
    }
}

}  // namespace detail

/// The digest of `count` words. Requires: count <= 13, so that padding and length fit the block.
template <std::size_t Count>
inline digest sha1(const std::array<std::uint32_t, Count>& message) noexcept {
    static_assert(Count <= 13);
    constexpr digest k_start = {0x67452301U, 0xefcdab89U, 0x98badcfeU, 0x10325476U, 0xc3d2e1f0U};
    detail::schedule w{};
    for (std::size_t i = 0; i < Count; ++i) {
        w[i] = message[i];
    }
    w[Count] = 0x80000000U;
    w[15] = Count * 32;  // length in bits
    auto [a, b, c, d, e] = k_start;
    detail::rounds<0>(w, a, b, c, d, e);
    return {k_start[0] + a, k_start[1] + b, k_start[2] + c, k_start[3] + d, k_start[4] + e};
}

}  // namespace uts
