// SPDX-License-Identifier: BSL-1.0
// Counters as series of a trace, for the setting trace-counters.
#pragma once

#include <quern/scheduler/series_source.hpp>

#include <memory>
#include <string_view>

namespace quern::counters::detail {

/// A quern::detail::series_source. Sums are drawn as rates, ratios are of the time since the last
/// look, levels and what /statistics gives are as they are.
std::unique_ptr<quern::detail::series_reader> read_series(const runtime& of,
                                                          std::string_view names);

}  // namespace quern::counters::detail
