// SPDX-License-Identifier: BSL-1.0
// A range of elements as tasks: halved until a part is one tile.
#pragma once

#include <quern/task/fork_join.hpp>

#include <cstddef>

namespace quern::arrays::detail {

/// Elements of a tile. Measured with 2 cores (docs/design/0045-array-kernels.md): adding 32768
/// numbers of float64 takes 7 to 9 us, some times what it costs when another worker takes a tile.
inline constexpr std::ptrdiff_t k_tile = 32768;
/// Of functions that take tens of cycles for an element.
inline constexpr std::ptrdiff_t k_dear_tile = 4096;
/// Where ranges are cut: at multiples of this many elements, so that few cache lines are shared.
inline constexpr std::ptrdiff_t k_tile_step = 64;

template <class F>
void fork_tiles(fork_context context, std::ptrdiff_t begin, std::ptrdiff_t end, std::ptrdiff_t tile,
                std::ptrdiff_t step, const F& f) {
    if (end - begin <= tile) {
        f(begin, end);
        return;
    }
    const std::ptrdiff_t half = (end - begin) / 2;
    const std::ptrdiff_t middle = begin + (half + step - 1) / step * step;
    fork_join(
        context,
        [=, &f](fork_context inner) { detail::fork_tiles(inner, middle, end, tile, step, f); },
        [=, &f](fork_context inner) { detail::fork_tiles(inner, begin, middle, tile, step, f); });
}

/// Calls f(begin, end) for parts of [0, count) of at most `tile`, at the same time where workers
/// are free. A range of one or two tiles is called here, without tasks.
template <class F>
void for_tiles(std::ptrdiff_t count, std::ptrdiff_t tile, std::ptrdiff_t step, const F& f) {
    if (count <= 2 * tile) {
        if (count > 0) f(std::ptrdiff_t{0}, count);
        return;
    }
    with_fork_context(
        [&](fork_context context) { detail::fork_tiles(context, 0, count, tile, step, f); });
}

}  // namespace quern::arrays::detail
