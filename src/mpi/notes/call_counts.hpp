// SPDX-License-Identifier: BSL-1.0
// What is counted of MPI calls. The counters /mpi (interface/counters_source.cpp) read these words.
// Calls while no runtime lives count nothing.
#pragma once

#include <quern/base/detail/cache_line.hpp>
#include <quern/base/detail/clock.hpp>

#include <atomic>
#include <cstdint>

namespace quern::mpi::detail {

/// Since the process began. Relaxed additions; any thread.
struct traffic_counts {
    using word = std::atomic<std::uint64_t>;

    alignas(quern::detail::k_cache_line) word sent{0};
    word received{0};
    word bytes{0};  ///< of both
    /// Of tasks that were suspended in calls.
    alignas(quern::detail::k_cache_line) word suspended{0};
    word waiting_ticks{0};
    word hidden_ticks{0};
};

extern traffic_counts g_traffic;

/// A wait of a task has ended: it lasted so long, and meanwhile the worker that the task had left
/// was without work for so long.
void count_wait(quern::detail::tick_count waited, quern::detail::tick_count idle) noexcept;

}  // namespace quern::mpi::detail
