// SPDX-License-Identifier: BSL-1.0
// block_steps: blocks that fit together into the caches of the cores are read and changed, each by
// a task in every step. In a step of its own, or with those of both neighbours. What counts is
// whether a task finds its block in the cache of its core. Size: bytes of a block. Value: GB/s.
#pragma once

#include "../harness/harness.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bench::block_steps {

using value = std::uint64_t;

inline constexpr std::size_t k_bytes_of_worker = std::size_t{1} << 20;  // of all blocks
inline constexpr int k_steps = 500;

/// Two rows of blocks.
struct data {
    explicit data(const arguments& a)
        : numbers(static_cast<std::size_t>(a.size) / sizeof(value)),
          blocks(k_bytes_of_worker * static_cast<std::size_t>(a.workers) /
                 static_cast<std::size_t>(a.size)),
          first(blocks, std::vector<value>(numbers, 1)),
          second(first) {}

    void reset() {
        for (auto& each : first) {
            each.assign(numbers, 1);
        }
    }

    /// run(data) makes all steps. What it does to a block is `change`, or `mix` of the second row
    /// from the first one and back.
    template <class Run>
    measurement measured(const Run& run) {
        reset();
        const double start = now();
        run(*this);
        const double seconds = now() - start;
        for (const auto& each : first) {
            expect_equal("a number", each.back(), each.front());
            expect_equal("the same number of all blocks", each.front(), first.front().front());
        }
        measurement m;
        m.value = static_cast<double>(blocks * numbers * sizeof(value)) * k_steps / seconds / 1e9;
        return m;
    }

    std::size_t numbers;
    std::size_t blocks;
    std::vector<std::vector<value>> first;
    std::vector<std::vector<value>> second;
};

inline void change(std::span<value> block) noexcept {
    for (value& each : block) {
        each = each * 3 + 1;
    }
}

/// The neighbours count with one number each.
inline void mix(value left, std::span<const value> from, value right,
                std::span<value> to) noexcept {
    for (std::size_t i = 0; i < to.size(); ++i) {
        to[i] = 3 * from[i] + left + right;
    }
}

}  // namespace bench::block_steps
