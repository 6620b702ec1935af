// SPDX-License-Identifier: BSL-1.0
// The size of the blocks of ordered_blocks.hpp, which all runners of a call share: given, or
// adapted to the duration of each block. One slow call, of a cold function or on a thread without a
// processor, makes the next few blocks short and no others.
#pragma once

#include <quern/algorithms/chunkers.hpp>
#include <quern/base/detail/clock.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <type_traits>

namespace quern::detail {

/// The longest block: 64 KiB of doubles stay in a cache between survey and finish.
inline constexpr std::size_t k_longest_block = 8'192;
/// What a block should last: about ten times what taking it costs where 16 workers take blocks, and
/// little beside the shortest range that is worth sharing.
inline constexpr double k_block_ns = 4'000;
/// A block of which the time is further from that than by this factor changes the size (guessed).
inline constexpr tick_count k_block_apart = 4;

/// The size of blocks, if the chunker says one, else 0.
template <class Chunker>
std::size_t block_of(const Chunker& chunks, std::size_t n, std::size_t workers) {
    if constexpr (std::is_same_v<Chunker, grain>) {
        return chunks.iterations;
    } else if constexpr (requires { chunks.size_for(n, workers); }) {
        return chunks.size_for(n, workers);
    } else {
        return 0;  // also the chunkers that measure first
    }
}

class block_size {
public:
    /// `given` 0: adapts, from blocks of `begin_with` elements.
    block_size(std::size_t given, std::size_t begin_with) noexcept
        : m_is_given(given != 0),
          m_is_growing(given == 0),
          m_size(given != 0 ? given : begin_with) {}

    std::size_t get() const noexcept {
        return std::max(m_size.load(std::memory_order_relaxed), m_least);
    }

    bool is_given() const noexcept { return m_is_given; }
    std::size_t least() const noexcept { return m_least; }

    /// From now on blocks have at least so many elements, unless their size is given. Called before
    /// there are several runners.
    void keep_above(std::size_t least) noexcept { m_least = m_is_given ? 1 : least; }

    /// Whether the range may be too short to be shared: no block has been long enough yet, nor have
    /// all of them together. For the only runner.
    bool is_growing() const noexcept { return m_is_growing; }

    /// Runs a block of that many elements and adapts to its duration.
    template <class Block>
    void run(std::size_t elements, Block&& block) {
        if (m_is_given) {
            block();
            return;
        }
        const tick_count start = ticks();
        block();
        adapt(elements, ticks() - start);
    }

private:
    /// relaxed: any of the sizes that runners find serves the next block.
    void adapt(std::size_t elements, tick_count took) noexcept {
        const tick_count wanted = ticks_of_ns(k_block_ns);
        const std::size_t size = get();
        const bool is_short = took * 2 < wanted;
        if (m_is_growing) {
            m_spent += took;
            m_is_growing = is_short && m_spent < 2 * wanted;
        }
        if (is_short) {
            if (elements >= size && size < k_longest_block) {
                m_size.store(std::min(size * 2, k_longest_block), std::memory_order_relaxed);
            }
            return;
        }
        if (took > wanted * k_block_apart && elements <= size) {
            m_size.store(std::max<std::size_t>(1, elements * wanted / took),
                         std::memory_order_relaxed);
        }
    }

    const bool m_is_given;
    bool m_is_growing;
    tick_count m_spent = 0;  ///< while growing
    std::size_t m_least = 1;
    std::atomic<std::size_t> m_size;
};

}  // namespace quern::detail
