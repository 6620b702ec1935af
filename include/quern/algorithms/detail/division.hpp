// SPDX-License-Identifier: BSL-1.0
// The chunks of a range as a chunker asks for them, before the range is dealt to the workers. Used
// by chunked_loop.hpp for every chunker except lazy and grain, which need no list of chunks.
#pragma once

#include <quern/algorithms/chunkers.hpp>
#include <quern/base/detail/clock.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace quern::detail {

/// Chunks of one size, or with given ends. Those before `begin` have been run.
struct division {
    std::size_t last;                 ///< the end of the range
    std::size_t size;                 ///< of every chunk but the last; if there are no `ends`
    std::size_t begin = 0;            ///< iterations that were run to measure them
    bool is_dynamic = false;          ///< chunks are taken in order by whichever worker is free
    std::vector<std::size_t> ends{};  ///< of chunks of various sizes

    std::size_t count() const noexcept {
        return !ends.empty() ? ends.size() : detail::divide_up(last - begin, size);
    }
    std::size_t first_of(std::size_t chunk) const noexcept {
        return ends.empty() ? begin + chunk * size : chunk == 0 ? begin : ends[chunk - 1];
    }
    std::size_t last_of(std::size_t chunk) const noexcept {
        return ends.empty() ? std::min(first_of(chunk) + size, last) : ends[chunk];
    }
};

/// The division of [0, n), n > 0. `run_first(k)` runs the first k iterations at once; used by the
/// chunkers that measure. May be called once.
template <class Chunker, class RunFirst>
division divide(const Chunker& chunks, std::size_t n, std::size_t cores, RunFirst&&) {
    return {.last = n, .size = chunks.size_for(n, cores)};
}

template <class RunFirst>
division divide(const dynamic_chunk_size& chunks, std::size_t n, std::size_t cores, RunFirst&&) {
    return {.last = n, .size = chunks.size_for(n, cores), .is_dynamic = true};
}

template <class RunFirst>
division divide(const guided_chunk_size& chunks, std::size_t n, std::size_t cores, RunFirst&&) {
    division all{.last = n, .size = 1, .is_dynamic = true};
    for (std::size_t end = 0; end < n;) {
        end += chunks.size_for(n - end, cores);
        all.ends.push_back(end);
    }
    return all;
}

/// Runs and times the first iterations; returns their number.
template <class RunFirst>
std::size_t measure(std::size_t n, RunFirst& run_first, double& ns_per_iteration) {
    const std::size_t sample = auto_chunk_size::sample_of(n);
    const tick_count start = ticks_in_order();
    run_first(sample);
    const auto passed = static_cast<double>(ticks_in_order() - start);
    ns_per_iteration = std::max(passed * ns_per_tick() / static_cast<double>(sample), 1e-3);
    return sample;
}

template <class RunFirst>
division divide(const auto_chunk_size& rule, std::size_t n, std::size_t cores,
                RunFirst&& run_first) {
    double ns = 0;
    const std::size_t done = detail::measure(n, run_first, ns);
    return {.last = n, .size = rule.size_for(n - done, cores, ns), .begin = done};
}

template <class RunFirst>
division divide(const remembered_chunk_size& chunks, std::size_t n, std::size_t cores,
                RunFirst&& run_first) {
    double ns = chunks.memory->ns_per_iteration();
    std::size_t done = 0;
    if (ns == 0) {
        done = detail::measure(n, run_first, ns);
        chunks.memory->remember(ns);
    }
    return {.last = n, .size = chunks.memory->rule().size_for(n - done, cores, ns), .begin = done};
}

}  // namespace quern::detail
