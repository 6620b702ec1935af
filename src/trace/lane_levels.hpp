// SPDX-License-Identifier: BSL-1.0
// A lane at several zoom levels: the run in equal cells, each with how much of it tasks took, which
// site most, and how much the worker was idle. What the page draws where single slices would be
// thinner than a pixel, or were left out. Private to the layer.
#pragma once

#include "page_sites.hpp"

#include <quern/trace/recording.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace quern::trace::detail {

/// Numbers of cells, from the coarsest level to the finest, each eight times the one before.
std::vector<std::size_t> level_sizes(std::size_t lanes, std::uint64_t duration_ns);

/// For each level base64 of three bytes a cell: site, share of tasks, share of idleness, of 255.
std::vector<std::string> lane_levels(const lane& one, const std::vector<interval>& idle,
                                     const page_sites& sites, std::uint64_t duration_ns,
                                     const std::vector<std::size_t>& sizes);

}  // namespace quern::trace::detail
