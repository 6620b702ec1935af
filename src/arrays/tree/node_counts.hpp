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

/// Of one share. On a line of its own: nodes that run on different workers do not slow each other.
struct alignas(64) node_counts {
    std::atomic<std::uint64_t> evaluations{0};
    std::atomic<std::uint64_t> tasks{0};  ///< evaluations that were tasks
    std::atomic<std::uint64_t> timed{0};  ///< evaluations whose time is known
    std::atomic<std::uint64_t> inclusive{0};
    std::atomic<std::uint64_t> exclusive{0};
    std::atomic<std::uint64_t> fused{0};  ///< evaluations whose elements a parent computed
    /// One evaluation in so many is timed; a power of two, less one.
    std::atomic<std::uint32_t> timing_mask{0};
};

/// Of a node, the sums over all shares.
struct node_totals {
    std::uint64_t evaluations = 0;
    std::uint64_t tasks = 0;
    std::uint64_t timed = 0;
    std::uint64_t inclusive = 0;
    std::uint64_t exclusive = 0;
    std::uint64_t fused = 0;

    double mean_inclusive() const noexcept { return mean(inclusive); }
    double mean_exclusive() const noexcept { return mean(exclusive); }

private:
    double mean(std::uint64_t sum) const noexcept {
        return timed > 0 ? static_cast<double>(sum) / static_cast<double>(timed) : 0;
    }
};

/// The counts of all nodes of a tree, in shares: adding to a line that another worker has written
/// costs some 50 ns, and an iteration of a small loop adds to some tens of them. A worker adds to
/// the share of its rank, so up to k_shares workers never meet. Any thread may add to any share.
class count_shares {
public:
    count_shares() = default;
    count_shares(const count_shares&) = delete;
    count_shares& operator=(const count_shares&) = delete;
    ~count_shares();

    /// Makes the first share. Throws std::bad_alloc.
    void make(std::size_t nodes);
    /// The calling worker's share, with counts for each node; the first where there is no memory.
    /// Requires: make().
    node_counts* of_caller() noexcept;
    node_totals total(std::size_t node) const noexcept;
    void reset() noexcept;

private:
    static constexpr std::size_t k_shares = 8;

    std::size_t m_nodes = 0;
    std::array<std::atomic<node_counts*>, k_shares> m_shares{};
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
