// SPDX-License-Identifier: BSL-1.0
// A lane at several zoom levels: the run in equal cells, each with the share of tasks, its largest
// site, and the share of idle time. The page draws them where slices were left out or would be
// narrower than a pixel. Private to the layer.
#pragma once

#include "analyse/sites.hpp"

#include <quern/trace/recording.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace quern::trace::detail {

/// Numbers of cells, from the coarsest level to the finest, each eight times the previous.
std::vector<std::size_t> level_sizes(std::size_t lanes, std::uint64_t duration_ns);

/// For each level base64 of three bytes per cell: site, share of tasks, share of idle time, in
/// 1/255.
std::vector<std::string> lane_levels(const lane& one, const std::vector<interval>& idle,
                                     const page_sites& sites, std::uint64_t duration_ns,
                                     const std::vector<std::size_t>& sizes);

}  // namespace quern::trace::detail
