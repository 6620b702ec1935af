// SPDX-License-Identifier: BSL-1.0
// Events of a trace's slices, which may consist of several pieces. Private to the layer.
#pragma once

#include "export/perfetto_numbers.hpp"
#include "export/protobuf.hpp"

#include <quern/trace/recording.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace quern::trace::detail {

/// The counts of an open slice's pieces so far.
class slice_sums {
public:
    /// Adds the known counts of the lane's piece.
    void add(const recording& run, const lane& from, std::size_t piece) {
        const std::size_t first = piece * run.events.size();
        for (std::size_t i = 0; i < size(run) && first + i < from.events.size(); ++i) {
            if (from.events[first + i] != k_unknown_count) {
                m_is_known = true;
                m_values[i] += from.events[first + i];
            }
        }
    }

    /// The arguments at the slice's end: one for each available event.
    void write(const recording& run, message& end) const {
        for (std::size_t i = 0; i < size(run) && m_is_known; ++i) {
            if (run.events[i].why.empty()) {
                end.part(perfetto::event_field::k_annotations,
                         message()
                             .number(perfetto::annotation_field::k_name_number,
                                     perfetto::k_first_event + i)
                             .number(perfetto::annotation_field::k_unsigned, m_values[i]));
            }
        }
    }

private:
    static std::size_t size(const recording& run) noexcept {
        return std::min(run.events.size(), k_most_events);
    }

    bool m_is_known = false;
    std::array<std::uint64_t, k_most_events> m_values{};
};

}  // namespace quern::trace::detail
