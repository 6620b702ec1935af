// SPDX-License-Identifier: BSL-1.0
// The chunks of a loop that belong to one member: it takes them from the front, some at a time, and
// a member that has none left takes the rear half. Protocol and argument: ../README.md, "Loops". A
// template over the atomics, so that tests/model explores it.
#pragma once

#include <quern/base/detail/config.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace quern::omp {

/// Numbers of chunks, from `from` to before `to`.
struct chunk_numbers {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    bool is_empty() const noexcept { return from >= to; }
};

/// One word has both ends, so every change is a change of the whole range, and a value that comes
/// back means the same range again.
template <class Atomics>
class chunk_range {
public:
    /// Larger numbers are not for ranges: an owner that finds nothing adds to the lower end.
    static constexpr std::uint64_t k_most_chunks = std::uint64_t{1} << 31;

    /// By the owner, whose range is empty, or before the loop begins.
    void set(chunk_numbers to) noexcept {
        m_word.store(std::uint64_t{to.from} << 32 | to.to, std::memory_order_relaxed);
    }

    /// By the owner: the first `wanted` chunks, or fewer; `left` of the range remain. Empty: there
    /// is none. The range must be set() then before it takes again.
    QUERN_ALWAYS_INLINE chunk_numbers take(std::uint32_t wanted, std::uint32_t& left) noexcept {
        const chunk_numbers before =
            ends_of(m_word.fetch_add(std::uint64_t{wanted} << 32, std::memory_order_relaxed));
        if (before.is_empty()) {
            return {};
        }
        const std::uint32_t taken = std::min(wanted, before.to - before.from);
        left = before.to - before.from - taken;
        return {before.from, before.from + taken};
    }

    /// A guess for others.
    bool is_empty() const noexcept {
        return ends_of(m_word.load(std::memory_order_relaxed)).is_empty();
    }

    /// By others: the rear half, at least one. Empty: there is nothing.
    chunk_numbers take_half() noexcept {
        std::uint64_t word = m_word.load(std::memory_order_relaxed);
        for (;;) {
            const chunk_numbers present = ends_of(word);
            if (present.is_empty()) {
                return {};
            }
            const std::uint32_t middle = present.from + (present.to - present.from) / 2;
            if (m_word.compare_exchange_weak(word, std::uint64_t{present.from} << 32 | middle,
                                             std::memory_order_relaxed,
                                             std::memory_order_relaxed)) {
                return {middle, present.to};
            }
        }
    }

private:
    static chunk_numbers ends_of(std::uint64_t word) noexcept {
        return {static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(word)};
    }

    typename Atomics::template atomic<std::uint64_t> m_word{0};
};

}  // namespace quern::omp
