// SPDX-License-Identifier: BSL-1.0
// The part of the page's data that is about workers: totals, zoom levels, slices, sleeps. Private
// to the layer.
#pragma once

#include "json.hpp"
#include "page_sites.hpp"

#include <quern/trace/recording.hpp>

#include <cstddef>

namespace quern::trace::detail {

/// Writes the keys level_sizes, kept and lanes. With them the text is to have at most so many
/// characters.
void write_lanes(json& out, const recording& run, const page_sites& sites, std::size_t characters);

}  // namespace quern::trace::detail
