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
#include <type_traits>

namespace quern::detail {

/// Iterations from first to last, correct also if a signed difference would overflow.
template <class Index>
std::size_t distance(Index first, Index last) noexcept {
    using unsigned_index = std::make_unsigned_t<Index>;
    return static_cast<unsigned_index>(static_cast<unsigned_index>(last) -
                                       static_cast<unsigned_index>(first));
}

template <class Index>
Index advance(Index from, std::size_t n) noexcept {
    using unsigned_index = std::make_unsigned_t<Index>;
    return static_cast<Index>(static_cast<unsigned_index>(static_cast<unsigned_index>(from) +
                                                          static_cast<unsigned_index>(n)));
}

inline constexpr std::size_t k_most_loop_parts = 64;  ///< the bits of a word

/// A range in as many contiguous parts as there are workers, with sizes that differ by at most one.
/// Each part is claimed once, by any thread.
template <class Index>
class loop_parts {
public:
    struct part {
        std::size_t number;
        Index first;
        Index last;
    };

    /// Requires: 1 <= count <= k_most_loop_parts; first <= begin < last. Iterations before `begin`
    /// are done already.
    loop_parts(Index first, Index last, Index begin, std::size_t count) noexcept
        : m_first(first),
          m_begin(begin),
          m_count(count),
          m_each(detail::distance(first, last) / count),
          m_one_more(detail::distance(first, last) % count) {
        std::size_t done = 0;
        while (offset(done + 1) <= detail::distance(first, begin)) {
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
                return {number, std::max(detail::advance(m_first, offset(number)), m_begin),
                        detail::advance(m_first, offset(number + 1))};
            }
        }
    }

private:
    /// Where a part begins.
    std::size_t offset(std::size_t number) const noexcept {
        return number * m_each + std::min(number, m_one_more);
    }

    const Index m_first;
    const Index m_begin;
    const std::size_t m_count;
    const std::size_t m_each;
    const std::size_t m_one_more;  ///< the first so many parts have one more iteration
    std::size_t m_to_claim = 0;
    std::atomic<std::uint64_t> m_free{0};  ///< a bit for each unclaimed part
};

}  // namespace quern::detail
