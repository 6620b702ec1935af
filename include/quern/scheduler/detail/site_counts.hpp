// SPDX-License-Identifier: BSL-1.0
// What one worker counts of each site, the place in the source that creates a kind of task. Written
// only by the worker, on its sampled and slow paths; read by any thread (sites.hpp), which adds up
// the workers. Never touched by a task that is not sampled.
#pragma once

#include <quern/base/detail/cache_line.hpp>
#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/relaxed.hpp>
#include <quern/scheduler/detail/context.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace quern::detail {

/// Further sites are counted together, as the first one.
inline constexpr std::uint16_t k_most_sites = 4096;
inline constexpr std::uint16_t k_other_sites = 0;

/// Of one site on one worker. A sample of weight w stands for w calls or pieces of user code; it
/// adds w (w - 1) times its square to the variance of the sum. Times in ticks.
struct alignas(k_cache_line) site_tally {
    relaxed<std::uint64_t> calls = 0;
    relaxed<std::uint64_t> samples = 0;  ///< pieces that were timed
    relaxed<std::uint64_t> pieces = 0;   ///< for how many they stand
    relaxed<std::uint64_t> time = 0;
    relaxed<std::uint64_t> suspensions = 0;
    relaxed<std::uint64_t> inlined = 0;  ///< calls that were run in the place of their creator
    relaxed<double> calls_variance = 0;
    relaxed<double> time_variance = 0;

    void add_call(std::uint32_t weight) noexcept {
        calls = calls + weight;
        calls_variance = calls_variance + squared(1, weight);
    }
    void add_piece(tick_count length, std::uint32_t weight) noexcept {
        samples = samples + 1;
        pieces = pieces + weight;
        time = time + weight * length;
        time_variance = time_variance + squared(static_cast<double>(length), weight);
    }

private:
    static double squared(double value, std::uint32_t weight) noexcept {
        return value * value * weight * (weight - 1.0);
    }
};

/// The number of a task's site, which is added if it is new. k_other_sites when there is no room.
/// Any thread.
std::uint16_t number_of_site(const task_description& task) noexcept;

/// What an upper layer keeps for a worker beside its tallies, and as long as these.
struct beside_tallies {
    beside_tallies() = default;
    beside_tallies(const beside_tallies&) = delete;
    beside_tallies& operator=(const beside_tallies&) = delete;
    virtual ~beside_tallies() = default;
};

/// The tallies of a worker by the number of the site (known_sites.hpp), made as they are needed.
class site_counts {
public:
    site_counts() = default;
    ~site_counts();
    site_counts(const site_counts&) = delete;
    site_counts& operator=(const site_counts&) = delete;

    /// That of a task's site. Only the worker. About 5 ns for one that was met lately.
    site_tally& of(const task_description& task) noexcept;
    /// The same by number.
    site_tally& of(std::uint16_t site) noexcept { return tally(site); }

    /// Null: the worker has counted nothing there. Any thread.
    const site_tally* at(std::uint16_t site) const noexcept {
        const site_tally* const block =
            site < k_in_block ? m_first.data()
                              : m_further[site / k_in_block].load(std::memory_order_acquire);
        return block != nullptr ? &block[site % k_in_block] : nullptr;
    }

    /// Of the rules of inlining. Only the worker.
    std::unique_ptr<beside_tallies> of_rules{};

private:
    static constexpr std::size_t k_in_block = 64;
    static constexpr std::size_t k_lately = 64;

    struct met {
        const void* address = nullptr;
        const char* name = nullptr;
        std::uint16_t site = k_other_sites;
    };

    site_tally& tally(std::uint16_t site) noexcept;

    std::array<site_tally, k_in_block> m_first{};
    std::array<std::atomic<site_tally*>, k_most_sites / k_in_block> m_further{};
    std::array<met, k_lately> m_lately{};
};

}  // namespace quern::detail
