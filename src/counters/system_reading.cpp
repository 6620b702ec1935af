// SPDX-License-Identifier: BSL-1.0
// From outcomes to readings.
#include "system_reading.hpp"

#include <quern/topology/system_root.hpp>

#include <utility>

namespace quern::counters::detail {

source_state state_of(int error) noexcept {
    return error == 0 || topology::means_absent(error) ? source_state::absent
                                                       : source_state::denied;
}

raw_reading reading_of(double value) { return {value, 0.0, source_state::ok, {}}; }

raw_reading no_reading(source_state state, std::string why) {
    return {0.0, 0.0, state, std::move(why)};
}

raw_reading no_reading(const topology::unavailable& why) {
    return no_reading(state_of(why.error), why.reason);
}

std::vector<raw_reading> all_alike(const raw_reading& one, std::size_t count) {
    return std::vector<raw_reading>(count, one);
}

std::optional<raw_reading> refuse_parts(const place& where) {
    if (!where.pool && !where.worker) {
        return std::nullopt;
    }
    return no_reading(source_state::absent,
                      "measured for the whole process, not for single pools and workers");
}

}  // namespace quern::counters::detail
