// SPDX-License-Identifier: BSL-1.0
// Which search follows a strategy, and what it accepts. Called by the tuner.
#pragma once

#include "strategies/search.hpp"

#include <quern/adaptation/tuner.hpp>

#include <cstddef>

namespace quern::adaptation::detail {

search search_by(strategy how, setup given);

/// The most trials of one search.
std::size_t trials_for(strategy how, const tuner_options& options);

/// Throws std::invalid_argument for a strategy that cannot search this space, with the reason, and
/// for options out of range.
void check(const space& where, strategy how, const tuner_options& options);

}  // namespace quern::adaptation::detail
