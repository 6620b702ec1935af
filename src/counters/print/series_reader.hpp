// SPDX-License-Identifier: BSL-1.0
// Counters as series of a trace, for the setting trace-counters.
#pragma once

#include <quern/scheduler/detail/series_source.hpp>

#include <memory>
#include <string_view>

namespace quern::counters::detail {

/// A quern::detail::series_source. Sums are drawn as rates, ratios cover the time since the last
/// sample, levels and /statistics are unchanged.
std::unique_ptr<quern::detail::series_reader> read_series(const runtime& of,
                                                          std::string_view names);

}  // namespace quern::counters::detail
