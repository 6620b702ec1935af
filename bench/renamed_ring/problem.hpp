// SPDX-License-Identifier: BSL-1.0
// renamed_ring: a buffer is filled and read again and again; each filling is a task, each reading
// two, of one half each. With one buffer a filling waits for the readings before it. Size: the
// numbers in the buffer.
#pragma once

#include "../harness/harness.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bench::renamed_ring {

using value = std::uint64_t;
using buffer = std::vector<value>;

/// Fillings, for about 2^24 numbers.
inline long rounds(long size) noexcept { return (1L << 24) / size; }

inline void fill(std::span<value> to, long round) noexcept {
    value v = static_cast<value>(round) * 0x9e3779b97f4a7c15U;
    for (value& each : to) {
        each = v ^ (v >> 29);
        v += 0xbf58476d1ce4e5b9U;
    }
}

inline value reading(std::span<const value> from) noexcept {
    value sum = 0;
    for (const value each : from) {
        sum += each ^ (each >> 32);
    }
    return sum;
}

/// Of one half of the buffer in each round.
struct readings {
    explicit readings(long size) : of(2 * static_cast<std::size_t>(rounds(size))) {}
    value& at(long round, std::size_t half) {
        return of[2 * static_cast<std::size_t>(round) + half];
    }
    value sum() const {
        value all = 0;
        for (const value each : of) {
            all = all * 31 + each;
        }
        return all;
    }
    std::vector<value> of;
};

inline value serial_ring(long size) {
    buffer one(static_cast<std::size_t>(size));
    readings found(size);
    for (long r = 0; r < rounds(size); ++r) {
        fill(one, r);
        found.at(r, 0) = reading(std::span(one).first(one.size() / 2));
        found.at(r, 1) = reading(std::span(one).subspan(one.size() / 2));
    }
    return found.sum();
}

/// `f` returns the answer.
template <class F>
measurement compared(F&& f, value answer) {
    return timed(f, [answer](value found) { expect_equal("the sum", found, answer); });
}

}  // namespace bench::renamed_ring
