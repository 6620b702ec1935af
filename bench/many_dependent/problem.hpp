// SPDX-License-Identifier: BSL-1.0
// many_dependent: one creator, many tiny tasks; each reads one of 1024 numbers and changes another.
// dependent_chain: all tasks change one number. The runtime finds the order from the accesses.
// Size: the number of tasks.
#pragma once

#include "../harness/harness.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>

namespace bench::many_dependent {

using value = std::uint64_t;
using table = std::array<value, 1024>;

/// The numbers that task i reads and changes. They are never the same.
inline std::size_t read_by(long i) noexcept {
    return (static_cast<std::size_t>(i) * 610 + 1) % std::tuple_size_v<table>;
}
inline std::size_t changed_by(long i) noexcept {
    return static_cast<std::size_t>(i) * 2 % std::tuple_size_v<table>;
}

inline void step(const value& from, value& to) noexcept {
    to = (to ^ from) * 0x9e3779b97f4a7c15U + 1;
}
inline void link(value& v) noexcept { v = v * 0x9e3779b97f4a7c15U + 1; }

inline value sum_of(const table& t) noexcept {
    value sum = 0;
    for (const value each : t) {
        sum = sum * 31 + each;
    }
    return sum;
}

inline value serial_sum(long tasks) noexcept {
    table t{};
    for (long i = 0; i < tasks; ++i) {
        step(t[read_by(i)], t[changed_by(i)]);
    }
    return sum_of(t);
}

inline value serial_chain(long tasks) noexcept {
    value v = 0;
    for (long i = 0; i < tasks; ++i) {
        link(v);
    }
    return v;
}

/// `f` returns the answer.
template <class F>
measurement compared(F&& f, value answer) {
    return timed(f, [answer](value found) { expect_equal("the result", found, answer); });
}

}  // namespace bench::many_dependent
