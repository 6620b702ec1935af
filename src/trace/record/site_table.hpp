// SPDX-License-Identifier: BSL-1.0
// The kinds of tasks seen by a worker, with their statistics. A kind is a name given by the user
// and a place in the source, or the function that runs the task if neither is known. Names are
// copied at their first use, since they live only as long as their tasks. One thread at a time.
#pragma once

#include "record/sink.hpp"
#include "record/sleep_meter.hpp"
#include "record/statistics.hpp"
#include "record/task_events.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace quern::trace::detail {

struct site_count {
    std::string name;               ///< the user's, or empty
    const void* address = nullptr;  ///< of the place, or of the function that runs the task
    bool is_entry = false;          ///< whether address is that of the function
    const void* entry = nullptr;    ///< the function that runs the task
    bool is_part = false;           ///< stolen children of forks
    const void* part_of = nullptr;  ///< of these: the place of the task that forked them, if known
    statistics time{};
    std::uint64_t phases = 0;
    std::uint64_t suspensions = 0;
    std::uint64_t inlined = 0;
    std::uint64_t stolen = 0;
    tick_count waited = 0;  ///< until their tasks resumed
    double blocked_ns = 0;
    double lost_ns = 0;
    double lost_error_ns = 0;
    event_sums events{};

    void add(const piece_losses& of) noexcept {
        blocked_ns += of.slept;
        lost_ns += of.lost;
        lost_error_ns += of.lost_error;
    }
    void merge(const site_count& other) noexcept;
};

class site_table {
public:
    /// Further kinds are counted together, as the first one.
    static constexpr std::size_t k_most_sites = 4096;
    static constexpr std::uint16_t k_others = 0;

    site_table();

    /// The index of a task's kind. Cost: about 5 ns for a recently seen one. Without memory for a
    /// new kind, the task counts as k_others.
    std::uint16_t find(const task_record& task) noexcept;

    site_count& at(std::uint16_t index) noexcept { return m_sites[index]; }
    const std::vector<site_count>& all() const noexcept { return m_sites; }

private:
    struct met {
        const char* name = nullptr;
        const void* address = nullptr;
        const void* part_of = nullptr;
        std::uint16_t index = k_others;
    };
    static constexpr std::size_t k_lately = 64;

    std::uint16_t look_up(std::string_view name, const task_record& task, const void* address,
                          const void* part_of) noexcept;

    std::vector<site_count> m_sites;
    std::unordered_map<std::string, std::uint16_t> m_index;
    std::array<met, k_lately> m_lately{};
};

}  // namespace quern::trace::detail
