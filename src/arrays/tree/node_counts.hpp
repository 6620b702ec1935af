// SPDX-License-Identifier: BSL-1.0
// What is counted and decided for each node while trees run. All members may be used by several
// threads at the same time; relaxed: each number stands alone.
#pragma once

#include <quern/adaptation/tuner.hpp>
#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/spin_lock.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace quern::arrays::detail {

using quern::detail::tick_count;

/// On a line of its own: nodes that run on different workers do not slow each other.
struct alignas(64) node_counts {
    std::atomic<std::uint64_t> evaluations{0};
    std::atomic<std::uint64_t> tasks{0};  ///< evaluations that were tasks
    std::atomic<std::uint64_t> timed{0};  ///< evaluations whose time is known
    std::atomic<std::uint64_t> inclusive{0};
    std::atomic<std::uint64_t> exclusive{0};
    std::atomic<std::uint64_t> fused{0};  ///< evaluations whose elements a parent computed
    /// One evaluation in so many is timed; a power of two, less one.
    std::atomic<std::uint32_t> timing_mask{0};

    double mean_inclusive() const noexcept { return mean(inclusive); }
    double mean_exclusive() const noexcept { return mean(exclusive); }
    void reset() noexcept {
        for (auto* each : {&evaluations, &tasks, &timed, &inclusive, &exclusive, &fused}) {
            each->store(0, std::memory_order_relaxed);
        }
    }

private:
    double mean(const std::atomic<std::uint64_t>& sum) const noexcept {
        const auto of = static_cast<double>(timed.load(std::memory_order_relaxed));
        return of > 0 ? static_cast<double>(sum.load(std::memory_order_relaxed)) / of : 0;
    }
};

/// Calls of a tree are told apart by the bytes of their arguments: each class four times the one
/// before, from 1 KiB on.
inline constexpr std::size_t k_size_classes = 12;

/// The search of the rule `adaptive`.
struct threshold_search {
    std::uint64_t count = 0;
    double ns = 0;
    double threshold_us = 425;
    bool is_converged = false;
    std::optional<adaptation::tuner> search{};
    std::optional<adaptation::trial> present{};
};

struct node_decisions {
    struct by_size {
        std::atomic<std::uint32_t> samples{0};
        std::atomic<std::uint64_t> mean_ticks{0};  ///< of the latest evaluations
        std::atomic<bool> is_short{false};
    };
    std::array<by_size, k_size_classes> sizes{};
    std::atomic<bool> baseline_inlines{false};
    std::atomic<bool> adaptive_inlines{false};

    quern::detail::spin_lock lock{};  ///< guards what follows
    std::uint64_t baseline_count = 0;
    double baseline_ns = 0;
    std::unique_ptr<threshold_search> adaptive{};
    std::string why{};  ///< the latest change of a mode
};

}  // namespace quern::arrays::detail
