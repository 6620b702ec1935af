// SPDX-License-Identifier: BSL-1.0
// The contiguous parts of a loop, one per worker. They are the same in each loop over the same
// range, so a worker that arrives in time finds its data of the previous loop in its caches. Why:
// docs/design/0018-contiguous-loops.md.
#pragma once

#include <quern/base/detail/config.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace quern::detail {

inline constexpr std::size_t k_most_loop_parts = 64;  ///< the bits of a word

/// The range [0, n) in as many contiguous parts as there are workers, with sizes that differ by at
/// most one. Each part is claimed once, by any thread.
class loop_parts {
public:
    struct part {
        std::size_t number;
        std::size_t first;
        std::size_t last;
    };

    /// Requires: 1 <= count <= k_most_loop_parts; begin < n. Iterations before `begin` are done
    /// already.
    loop_parts(std::size_t n, std::size_t begin, std::size_t count) noexcept
        : m_begin(begin), m_count(count), m_each(n / count), m_one_more(n % count) {
        std::size_t done = 0;
        while (offset(done + 1) <= begin) {
            ++done;
        }
        m_to_claim = count - done;
        m_free.store(~std::uint64_t{0} >> (k_most_loop_parts - m_to_claim) << done,
                     std::memory_order_relaxed);
    }

    /// Number of parts to claim initially.
    std::size_t to_claim() const noexcept { return m_to_claim; }

    /// Whether there are unclaimed parts.
    bool has_free() const noexcept { return m_free.load(std::memory_order_relaxed) != 0; }

    /// The part of that worker, or the first free one if it is taken. Requires: not all have been
    /// claimed.
    part claim(std::size_t rank) noexcept {
        const std::size_t own = rank % m_count;
        // relaxed: the bits order nothing; the fork orders the claiming thread.
        std::uint64_t free = m_free.load(std::memory_order_relaxed);
        for (;;) {
            const bool is_own_free = (free >> own & 1) != 0;
            const std::size_t number =
                is_own_free ? own : static_cast<std::size_t>(std::countr_zero(free));
            if (m_free.compare_exchange_weak(free, free & ~(std::uint64_t{1} << number),
                                             std::memory_order_relaxed)) {
                return {number, std::max(offset(number), m_begin), offset(number + 1)};
            }
        }
    }

private:
    /// Where a part begins.
    std::size_t offset(std::size_t number) const noexcept {
        return number * m_each + std::min(number, m_one_more);
    }

    const std::size_t m_begin;
    const std::size_t m_count;
    const std::size_t m_each;
    const std::size_t m_one_more;  ///< the first so many parts have one more iteration
    std::size_t m_to_claim = 0;
    std::atomic<std::uint64_t> m_free{0};  ///< a bit for each unclaimed part
};

}  // namespace quern::detail
