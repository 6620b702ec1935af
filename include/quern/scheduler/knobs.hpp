// SPDX-License-Identifier: BSL-1.0
// Numbers, by name, that may change while a pool runs: what policies write. Each is registered by
// the layer, library or program that obeys it. Workers read the scheduler's knobs in slow paths
// only, so a change costs the fast paths nothing.
#pragma once

#include <quern/base/detail/config.hpp>

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

namespace quern::detail {

class pool;

/// A longer spin is no longer a search (guessed).
inline constexpr std::uint32_t k_longest_spin_us = 1'000'000;
inline constexpr std::uint32_t k_largest_batch = 4096;

struct knobs {
    /// Workers that may take work; those of higher rank park after their present task. Written only
    /// by pool::set_active_workers, which wakes the workers concerned.
    std::atomic<std::uint32_t> active_workers{1};
    /// Microseconds that a worker searches before it parks: about the cost of a wake-up (futex wake
    /// and wait: 50-70 us on a virtual machine, 5-50 on bare metal).
    std::atomic<std::uint32_t> spin_us{50};
    /// Most threads that a pool makes for tasks that block in foreign code (blocking_region).
    std::atomic<std::uint32_t> spare_threads{64};
    /// Ready items that a thief takes from a victim at once. 0: the policy decides. That is half of
    /// the victim's items for NUMA-node queues (sherwood). Elsewhere it is one item, doubled with
    /// each steal up to 32 while the items stolen last were tiny (docs/policies.md).
    std::atomic<std::uint32_t> steal_batch{0};
};

/// More threads than this are taken for a mistake.
inline constexpr std::uint32_t k_most_spare_threads = 4096;

}  // namespace quern::detail

namespace quern {

/// A number by name, of a pool or of the process. In the latter case the functions ignore the pool.
/// Any thread may call them, several at a time.
struct knob {
    std::string_view name = {};
    std::string_view owner = {};  ///< the layer, library or program that obeys it
    std::string_view unit = {};   ///< "us"; empty for a plain number
    std::string_view help = {};
    std::uint32_t least = 0;
    std::uint32_t most = ~std::uint32_t{0};
    std::uint32_t (*get)(const detail::pool& of) noexcept = nullptr;
    /// Gets a value within the range; returns the value set, which may be smaller.
    std::uint32_t (*set)(detail::pool& of, std::uint32_t value) noexcept = nullptr;
};

/// All knobs: the scheduler's, then others in order of registration. Thread safe.
std::span<const knob> all_knobs() noexcept;

/// Adds knobs. Each pool made afterwards sets every knob to the setting of the same name, if there
/// is one. Everything that the rows point to must live as long as the process. Throws
/// std::invalid_argument for a name in use, an empty range, or a row without functions;
/// std::length_error beyond 64 knobs. Thread safe.
///
///     static std::atomic<std::uint32_t> g_tile{64};
///     static constexpr quern::knob k_mine[] = {{.name = "tile", .owner = "heat",
///         .unit = "points", .help = "points of a tile", .least = 1, .most = 4096,
///         .get = [](const quern::detail::pool&) noexcept { return g_tile.load(); },
///         .set = [](quern::detail::pool&, std::uint32_t n) noexcept { return g_tile = n; }}};
///     quern::register_knobs(k_mine);
///     rt.default_pool().set_knob("tile", 5000);  // 4096
void register_knobs(std::span<const knob> rows);

}  // namespace quern

namespace quern::detail {

/// Throws std::invalid_argument that lists the known names and the nearest match.
const knob& find_knob(std::string_view name);

/// Clamps the value to the knob's range; returns the value set.
std::uint32_t set_within(const knob& which, pool& of, std::uint32_t value) noexcept;

}  // namespace quern::detail
