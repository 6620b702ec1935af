// SPDX-License-Identifier: BSL-1.0
// When a job of several localities has nothing more to do: Mattern's four counters (Algorithms for
// distributed termination detection, 1987). Proof: src/localities/README.md, section "The end";
// explored in tests/model/localities_end_test.cpp.
#pragma once

#include <quern/base/detail/atomics.hpp>
#include <quern/base/detail/config.hpp>

#include <cstdint>

namespace quern::localities::detail {

/// What has begun and what has ended at one locality. Parcels and messages begin at one and end at
/// another. Any thread.
/// Invariant: over all localities, no more has ended than has begun.
template <class Atomics>
class work_counts {
public:
    void has_begun(std::uint64_t count) noexcept {
        m_begun.fetch_add(count, std::memory_order_relaxed);
    }
    /// After all that it has begun itself has been counted. release: pairs with ended().
    void has_ended(std::uint64_t count) noexcept {
        m_ended.fetch_add(count, std::memory_order_release);
    }

    std::uint64_t begun() const noexcept { return m_begun.load(std::memory_order_relaxed); }
    /// acquire: what has ended had counted what it began, so a later begun() includes that.
    std::uint64_t ended() const noexcept { return m_ended.load(std::memory_order_acquire); }

private:
    typename Atomics::template atomic<std::uint64_t> m_begun{0};
    typename Atomics::template atomic<std::uint64_t> m_ended{0};
};

/// Decides by the sums over all localities, taken in rounds one after the other.
class end_rule {
public:
    /// A round's sums. True: there was a moment before this round at which nothing was under way.
    bool has_ended(std::uint64_t all_begun, std::uint64_t all_ended) noexcept {
        const bool is_over = all_begun == m_ended_before;
        m_has_changed = all_ended != m_ended_before;
        m_ended_before = all_ended;
        return is_over;
    }
    /// Whether something has ended between the last two rounds.
    bool has_changed() const noexcept { return m_has_changed; }

private:
    static constexpr std::uint64_t k_no_round = ~std::uint64_t{0};
    std::uint64_t m_ended_before = k_no_round;
    bool m_has_changed = true;
};

}  // namespace quern::localities::detail
