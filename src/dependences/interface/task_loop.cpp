// SPDX-License-Identifier: BSL-1.0
// How many iterations a task of a task_loop has, and what loops are refused.
#include <quern/dependences/task_loop.hpp>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace quern::detail {

std::ptrdiff_t chunk_of_loop(std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t grain,
                             const pool& where) {
    if (first > last) {
        throw std::invalid_argument("quern: task_loop from " + std::to_string(first) + " to " +
                                    std::to_string(last) + ": `first` must not be above `last`");
    }
    if (grain < 0) {
        throw std::invalid_argument("quern: task_loop with a grain of " + std::to_string(grain) +
                                    ": it must be at least 1, or 0 for one of its own choice");
    }
    std::ptrdiff_t iterations = 0;
    if (__builtin_sub_overflow(last, first, &iterations)) {
        throw std::invalid_argument("quern: task_loop from " + std::to_string(first) + " to " +
                                    std::to_string(last) + ": more iterations than can be counted");
    }
    if (grain != 0) {
        return grain;
    }
    // Guessed: enough that a worker which is late by some chunks is no matter.
    constexpr std::ptrdiff_t k_chunks_per_worker = 12;
    const std::ptrdiff_t chunks = k_chunks_per_worker * static_cast<std::ptrdiff_t>(where.size());
    return std::max<std::ptrdiff_t>(1, iterations / chunks + (iterations % chunks != 0 ? 1 : 0));
}

}  // namespace quern::detail
