// SPDX-License-Identifier: BSL-1.0
// Readings, and the reasons why there is none, as all sources of the system give them. Private to
// the layer. Never turns a failure into a number.
#pragma once

#include <quern/counters/source.hpp>
#include <quern/topology/outcome.hpp>

#include <string>
#include <vector>

namespace quern::counters::detail {

/// What an errno value says of a source: ENOENT, EOPNOTSUPP and their like that it is absent, all
/// others that it is there and cannot be read.
source_state state_of(int error) noexcept;

raw_reading reading_of(double value);
raw_reading no_reading(source_state state, std::string why);
/// Content that is not as expected makes a source absent.
raw_reading no_reading(const topology::unavailable& why);

/// The same reading for all counters of a source.
std::vector<raw_reading> all_alike(const raw_reading& one, std::size_t count);

/// What a source that measures the whole process answers where a single pool or worker is asked
/// for; nothing where it is the whole.
std::optional<raw_reading> refuse_parts(const place& where);

}  // namespace quern::counters::detail
