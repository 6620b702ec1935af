// SPDX-License-Identifier: BSL-1.0
// The size of the chunks of a loop: given, or found from the duration of its first chunks.
#pragma once

#include <quern/algorithms/grain.hpp>
#include <quern/base/detail/clock.hpp>

#include <algorithm>
#include <cstddef>

namespace quern::detail {

/// The minimal duration of a chunk; reading the clock costs about 10 ns.
inline constexpr double k_chunk_ns = 2'000;

/// A chunk of which the time differs from that by more than this factor changes the size (guessed).
inline constexpr tick_count k_apart = 4;

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

    /// Runs a chunk and adapts to its duration: doubles until one is long enough. Then every second
    /// one is timed, and shrinks those that follow when it took much longer: iterations differ.
    template <class Chunk>
    void run(Chunk&& chunk) {
        m_is_timed = !m_is_timed || !m_settled;
        if (m_fixed || !m_is_timed) {
            chunk();
            return;
        }
        const tick_count start = ticks();
        chunk();
        const tick_count took = ticks() - start;
        const tick_count enough = ticks_of_ns(k_chunk_ns);
        if (took < enough && (!m_settled || took * k_apart < enough)) {
            m_size *= 2;
        } else if (!m_settled) {
            m_settled = true;
        } else if (took > enough * k_apart) {
            m_size = std::max<std::size_t>(1, m_size * enough / took);
        }
    }

    /// Whether a chunk has been long enough.
    bool settled() const noexcept { return m_fixed || m_settled; }

private:
    std::size_t m_size;
    bool m_fixed;
    bool m_settled = false;
    bool m_is_timed = false;
};

}  // namespace quern::detail
