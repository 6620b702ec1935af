// SPDX-License-Identifier: BSL-1.0
// The waits of a worker's tasks, by object and source line. Every wait is counted. Looking up a
// line takes some microseconds, so it is done once per 100 us of waited time. A wait with a line
// represents all waits of the same tasks for the same object since the previous one. One thread at
// a time.
#pragma once

#include "record/sink.hpp"

#include <quern/scheduler/detail/wait_reason.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace quern::trace::detail {

/// Waits of the tasks of a site for an object.
struct wait_sum {
    std::uint64_t waits = 0;
    tick_count total = 0;
    tick_count longest = 0;

    void add(tick_count length) noexcept {
        ++waits;
        total += length;
        longest = length > longest ? length : longest;
    }
    void merge(const wait_sum& other) noexcept {
        waits += other.waits;
        total += other.total;
        longest = other.longest > longest ? other.longest : longest;
    }
};

struct wait_count {
    std::string kind;  ///< "mutex"
    bool is_lock = false;
    const void* thing = nullptr;  ///< null: several objects
    std::uint16_t site = 0;       ///< of the tasks: an index into the worker's site_table
    wait_sum all{};
    wait_sum unplaced{};  ///< waits since the last one with a line
    std::vector<std::pair<quern::detail::call_chain, wait_sum>> places{};
};

class wait_table {
public:
    static constexpr std::size_t k_most = 4096;
    /// Index of waits without a row of their own.
    static constexpr std::uint16_t k_others = 0;

    wait_table();

    /// The index of its row, and whether the line is wanted. Cost: about 20 ns.
    std::pair<std::uint16_t, bool> add(const task_wait& wait, std::uint16_t site) noexcept;
    /// Sets the call chain of the last wait added at that index.
    void place(std::uint16_t index, const quern::detail::call_chain& calls) noexcept;

    const std::vector<wait_count>& all() const noexcept { return m_all; }

private:
    using words = std::array<char, 48>;
    struct key {
        const quern::detail::wait_kind* kind;
        const void* thing;  ///< or a hash of wait_kind::tell_apart's words
        std::uint16_t site;
        auto operator<=>(const key&) const noexcept = default;
    };
    std::uint16_t find(const key& wanted, const words& apart) noexcept;
    std::uint16_t look_up(const key& wanted, const words& apart);

    std::vector<wait_count> m_all;
    std::map<key, std::uint16_t> m_index;
    key m_last_key{};
    std::uint16_t m_last = k_others;
};

}  // namespace quern::trace::detail
