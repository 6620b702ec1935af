// SPDX-License-Identifier: BSL-1.0
// Which decisions a report of limited size shows. Private to the layer.
#pragma once

#include <quern/trace/recording.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace quern::trace::detail {

bool is_trial(const decision& made) noexcept;

/// At most so many, in order of time: the last of each value and the newest. Trials only where the
/// others leave room.
std::vector<std::reference_wrapper<const decision>> chosen_decisions(const recording& run,
                                                                     std::size_t most);

/// "1000 -> 42000 points", "stays 8 workers", "8 -> 6 workers (not applied)".
std::string change_words(const value_change& change);

}  // namespace quern::trace::detail
