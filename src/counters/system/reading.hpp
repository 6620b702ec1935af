// SPDX-License-Identifier: BSL-1.0
// Readings and failures in the form of all system sources. Private to the layer. Must never turn a
// failure into a number.
#pragma once

#include <quern/counters/source.hpp>
#include <quern/topology/outcome.hpp>
#include <quern/topology/system_root.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace quern::counters::detail {

/// What an errno value says of a source: ENOENT, EOPNOTSUPP and their like that it is absent, all
/// others that it is there and cannot be read.
inline source_state state_of(int error) noexcept {
    return error == 0 || topology::means_absent(error) ? source_state::absent
                                                       : source_state::denied;
}

inline raw_reading reading_of(double value) { return {value, 0.0, source_state::ok, {}}; }
inline raw_reading no_reading(source_state state, std::string why) {
    return {0.0, 0.0, state, std::move(why)};
}

/// Content that is not as expected makes a source absent.
inline raw_reading no_reading(const topology::unavailable& why) {
    return no_reading(state_of(why.error), why.reason);
}

/// The same reading for all counters of a source.
inline std::vector<raw_reading> all_alike(const raw_reading& one, std::size_t count) {
    return std::vector<raw_reading>(count, one);
}

/// What a source that measures the whole process answers where a single pool or worker is asked
/// for; nothing where it is the whole.
inline std::optional<raw_reading> refuse_parts(const place& where) {
    if (!where.pool && !where.worker) {
        return std::nullopt;
    }
    return no_reading(source_state::absent,
                      "measured for the whole process, not for single pools and workers");
}

}  // namespace quern::counters::detail
