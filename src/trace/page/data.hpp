// SPDX-License-Identifier: BSL-1.0
// What the page's script draws, as JSON of limited size. Private to the layer.
#pragma once

#include "analyse/sites.hpp"
#include "analyse/words.hpp"

#include <quern/trace/efficiency.hpp>

#include <cstddef>
#include <string>

namespace quern::trace::detail {

/// The keys are those that page/*.js reads. At most so many characters, as long as what cannot be
/// summarised (lanes, settings) leaves room.
std::string page_data(const recording& run, const efficiency& what, const calibration& one_core,
                      std::size_t characters);

/// Its part about workers, the keys level_sizes, kept and lanes: totals, zoom levels, slices,
/// sleeps. With them the text is to have at most so many characters.
void write_lanes(json& out, const recording& run, const page_sites& sites, std::size_t characters);

}  // namespace quern::trace::detail
