// SPDX-License-Identifier: BSL-1.0
// The chunkers that need more than a size.
#include <quern/algorithms/detail/division.hpp>

#include <quern/base/detail/clock.hpp>

namespace quern::detail {

namespace {

/// Runs and times the first iterations; returns their number.
std::size_t measure(std::size_t n, first_iterations run_first, double& ns_per_iteration) {
    const std::size_t sample = auto_chunk_size::sample_of(n);
    const tick_count start = ticks_in_order();
    run_first(sample);
    const auto passed = static_cast<double>(ticks_in_order() - start);
    ns_per_iteration = std::max(passed * ns_per_tick() / static_cast<double>(sample), 1e-3);
    return sample;
}

}  // namespace

division divide(const dynamic_chunk_size& chunks, std::size_t n, std::size_t cores,
                first_iterations) {
    return {.last = n, .size = chunks.size_for(n, cores), .is_dynamic = true};
}

division divide(const guided_chunk_size& chunks, std::size_t n, std::size_t cores,
                first_iterations) {
    division all{.last = n, .size = 1, .is_dynamic = true};
    for (std::size_t end = 0; end < n;) {
        end += chunks.size_for(n - end, cores);
        all.ends.push_back(end);
    }
    return all;
}

division divide(const auto_chunk_size& rule, std::size_t n, std::size_t cores,
                first_iterations run_first) {
    double ns = 0;
    const std::size_t done = measure(n, run_first, ns);
    return {.last = n, .size = rule.size_for(n - done, cores, ns), .begin = done};
}

division divide(const remembered_chunk_size& chunks, std::size_t n, std::size_t cores,
                first_iterations run_first) {
    double ns = chunks.memory->ns_per_iteration();
    std::size_t done = 0;
    if (ns == 0) {
        done = measure(n, run_first, ns);
        chunks.memory->remember(ns);
    }
    return {.last = n, .size = chunks.memory->rule().size_for(n - done, cores, ns), .begin = done};
}

}  // namespace quern::detail
