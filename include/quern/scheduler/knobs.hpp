// SPDX-License-Identifier: BSL-1.0
// The numbers of a pool that may be changed while it runs, by name: what policies write. Workers
// read them in slow paths only, so a change costs the fast paths nothing.
#pragma once

#include <quern/base/config.hpp>

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

namespace quern::detail {

class pool;

/// More is no search any more (a guess).
inline constexpr std::uint32_t k_longest_spin_us = 1'000'000;
inline constexpr std::uint32_t k_largest_batch = 4096;

struct knobs {
    /// Workers that may take work; those of higher rank park after their present task. Written by
    /// pool::set_active_workers alone, which wakes whom it concerns.
    std::atomic<std::uint32_t> active_workers{1};
    /// Microseconds that a worker searches before it parks: about what a wake-up costs (futex wake
    /// and wait: 50-70 us on a virtual machine, 5-50 on bare metal).
    std::atomic<std::uint32_t> spin_us{50};
    /// Threads that a pool makes at most for tasks that block in foreign code (blocking_region).
    std::atomic<std::uint32_t> spare_threads{64};
    /// Ready items that a thief takes from a victim at once; 0: as many as the policy finds right,
    /// which is half of a node's (sherwood), or one, and twice as many with each take, up to 32,
    /// while those that it took last were tiny (docs/policies.md).
    std::atomic<std::uint32_t> steal_batch{0};
};

/// More threads than this are a mistake in somebody's arithmetic.
inline constexpr std::uint32_t k_most_spare_threads = 4096;

/// One of them by name. `set` brings the value into its range and returns what was set.
struct knob {
    std::string_view name;
    std::string_view help;
    std::uint32_t (*get)(const pool& of) noexcept;
    std::uint32_t (*set)(pool& of, std::uint32_t value) noexcept;
};

/// All of them.
std::span<const knob> all_knobs() noexcept;

/// Throws std::invalid_argument that names the known ones and the nearest match.
const knob& find_knob(std::string_view name);

}  // namespace quern::detail
