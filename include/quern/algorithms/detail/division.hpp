// SPDX-License-Identifier: BSL-1.0
// The chunks of a range as a chunker asks for them, before the range is dealt to the workers. Used
// by chunked_loop.hpp for every chunker except lazy and grain, which need no list of chunks.
#pragma once

#include <quern/algorithms/chunkers.hpp>
#include <quern/base/detail/function_ref.hpp>

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

/// Runs the first k iterations at once.
using first_iterations = function_ref<void(std::size_t k)>;

/// The division of [0, n), n > 0. `run_first` is for the chunkers that measure, and called once.
template <class Chunker>
division divide(const Chunker& chunks, std::size_t n, std::size_t cores, first_iterations) {
    return {.last = n, .size = chunks.size_for(n, cores)};
}
division divide(const dynamic_chunk_size& chunks, std::size_t n, std::size_t cores,
                first_iterations run_first);
division divide(const guided_chunk_size& chunks, std::size_t n, std::size_t cores,
                first_iterations run_first);
division divide(const auto_chunk_size& rule, std::size_t n, std::size_t cores,
                first_iterations run_first);
division divide(const remembered_chunk_size& chunks, std::size_t n, std::size_t cores,
                first_iterations run_first);

}  // namespace quern::detail
