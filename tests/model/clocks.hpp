// SPDX-License-Identifier: BSL-1.0
// Vector clocks for the explorer, for two uses that must not be mixed: hb_clock is the C++
// happens-before relation between threads (checked by var<T>), order_clock is the dependency order
// between the steps of one execution (used by the reduction). Used only by machine.* and
// search_tree.*; holds no state of an exploration.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace model::detail {

inline constexpr std::size_t k_max_threads = 7;  // the setup and the end check are one more
inline constexpr std::size_t k_main_thread = k_max_threads;  // its index
inline constexpr std::size_t k_max_actors =
    32;  // threads and store-buffer queues; one bit each in a mask

template <class Count, std::size_t Size>
class vector_clock {
public:
    [[nodiscard]] Count operator[](std::size_t i) const noexcept { return m_counts[i]; }
    void set(std::size_t i, Count value) noexcept { m_counts[i] = value; }
    void tick(std::size_t i) noexcept { ++m_counts[i]; }
    void clear() noexcept { m_counts.fill(0); }

    void join(const vector_clock& other) noexcept {
        for (std::size_t i = 0; i != Size; ++i)
            m_counts[i] = m_counts[i] < other.m_counts[i] ? other.m_counts[i] : m_counts[i];
    }

    // First component of `other` that this clock has not seen, or Size when it has seen all of
    // them.
    [[nodiscard]] std::size_t first_unseen(const vector_clock& other) const noexcept {
        for (std::size_t i = 0; i != Size; ++i)
            if (other.m_counts[i] > m_counts[i]) return i;
        return Size;
    }

private:
    std::array<Count, Size> m_counts{};
};

using hb_clock = vector_clock<std::uint32_t, k_max_threads + 1>;
using order_clock = vector_clock<std::uint16_t, k_max_actors>;

}  // namespace model::detail
