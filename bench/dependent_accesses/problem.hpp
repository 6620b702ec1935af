// SPDX-License-Identifier: BSL-1.0
// dependent_accesses: what an access costs. One creator, 100 000 tiny tasks, each of which changes
// as many of 1024 numbers. Size: the number of accesses of a task. Value: ns a task. The figure
// ns_per_access is what this is more than for tasks without accesses, divided by the accesses.
#pragma once

#include "../harness/harness.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>

namespace bench::dependent_accesses {

using value = std::uint64_t;
using table = std::array<value, 1024>;

inline constexpr long k_tasks = 100'000;

/// The first of the numbers of a task; the others follow it. Requires: 1024 is divisible by
/// `accesses`, unless that is 0.
inline std::size_t first_of(long task, std::size_t accesses) noexcept {
    return static_cast<std::size_t>(task) * accesses % std::tuple_size_v<table>;
}

inline void change(value& v) noexcept { v = v * 0x9e3779b97f4a7c15U + 1; }

inline void check(const table& found, std::size_t accesses) {
    table expected{};
    for (long i = 0; i < k_tasks; ++i) {
        for (std::size_t k = 0; k < accesses; ++k) {
            change(expected[first_of(i, accesses) + k]);
        }
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
        expect_equal("a number", found[i], expected[i]);
    }
}

/// Calls f with the number of accesses as a constant.
template <class F>
auto with_constant(long accesses, F&& f) {
    switch (accesses) {
        case 0:
            return f(std::integral_constant<std::size_t, 0>());
        case 1:
            return f(std::integral_constant<std::size_t, 1>());
        case 2:
            return f(std::integral_constant<std::size_t, 2>());
        case 4:
            return f(std::integral_constant<std::size_t, 4>());
        case 8:
            return f(std::integral_constant<std::size_t, 8>());
        case 16:
            return f(std::integral_constant<std::size_t, 16>());
        default:
            throw std::invalid_argument("the number of accesses is " + std::to_string(accesses) +
                                        "; accepted: 0, 1, 2, 4, 8, 16");
    }
}

/// The measurement of tasks with as many accesses. `run(table&, constant)` runs them all.
template <class Run>
measurement measured(long accesses, const Run& run) {
    const auto timed_with = [&run](auto constant) {
        constexpr std::size_t k_accesses = decltype(constant)::value;
        measurement m = timed(
            [&] {
                table t{};
                run(t, constant);
                return t;
            },
            [](const table& t) { check(t, k_accesses); });
        m.value *= 1e9 / k_tasks;
        return m;
    };
    const double none = timed_with(std::integral_constant<std::size_t, 0>()).value;
    measurement m = with_constant(accesses, timed_with);
    if (accesses > 0) {
        m.more["ns_per_access"] = (m.value - none) / static_cast<double>(accesses);
    }
    return m;
}

}  // namespace bench::dependent_accesses
