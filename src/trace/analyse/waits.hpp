// SPDX-License-Identifier: BSL-1.0
// The waits of all workers, merged for a recording. Private to the layer.
#pragma once

#include "record/wait_table.hpp"

#include <quern/trace/recording.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace quern::trace::detail {

class merged_waits {
public:
    /// Adds another worker. `sites` maps each index of its site table to that in the recording.
    void add(const wait_table& from, const std::vector<std::uint32_t>& sites);
    /// For the worker added last: a task began at that time to wait for the object with that index.
    void note(std::uint64_t task, std::uint64_t at_ns, std::uint64_t index);

    /// The rows in order; sets slice::wait.
    std::vector<wait_row> give(std::vector<lane>& lanes);

private:
    struct noted {
        std::uint64_t task;
        std::uint64_t at_ns;
        std::uint32_t row;
    };
    std::uint32_t row_of(const wait_count& from, std::uint32_t site);

    std::vector<wait_row> m_rows;
    std::map<std::tuple<std::string, std::uint64_t, std::uint32_t>, std::uint32_t> m_index;
    std::vector<std::uint32_t> m_present;  ///< of the worker added last: its rows
    std::vector<noted> m_noted;
    std::map<std::vector<const void*>, wait_line> m_lines;  ///< each call chain is named once
};

}  // namespace quern::trace::detail
