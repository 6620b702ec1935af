// SPDX-License-Identifier: BSL-1.0
// The size of the chunks of a loop: given, or found from the duration of its first chunks.
#pragma once

#include <quern/algorithms/grain.hpp>
#include <quern/base/detail/clock.hpp>

#include <cstddef>

namespace quern::detail {

/// The minimal duration of a chunk; reading the clock costs about 10 ns.
inline constexpr double k_chunk_ns = 2'000;

/// Adapts the length of chunks to the duration of iterations.
class chunk_size {
public:
    explicit chunk_size(grain wanted) noexcept
        : m_size(wanted.iterations != 0 ? wanted.iterations : 1), m_fixed(wanted.iterations != 0) {}

    /// Adapts, beginning with chunks of `first` iterations that are known to be short.
    static chunk_size growing_from(std::size_t first) noexcept {
        chunk_size chunk{grain::automatic()};
        chunk.m_size = first;
        return chunk;
    }

    std::size_t get() const noexcept { return m_size; }

    /// Runs a chunk and adapts to its duration.
    template <class Chunk>
    void run(Chunk&& chunk) {
        if (settled()) {
            chunk();
            return;
        }
        const tick_count start = ticks();
        chunk();
        if (ticks() - start < ticks_of_ns(k_chunk_ns)) {
            m_size *= 2;
        } else {
            m_settled = true;
        }
    }

    /// Whether the size is final.
    bool settled() const noexcept { return m_fixed || m_settled; }

private:
    std::size_t m_size;
    bool m_fixed;
    bool m_settled = false;
};

}  // namespace quern::detail
