// SPDX-License-Identifier: BSL-1.0
// The part of the page that says what tasks waited for. Private to the layer.
#pragma once

#include "json.hpp"
#include "page_sites.hpp"

#include <cstddef>

namespace quern::trace::detail {

/// Rows of recording::waits that the page has; the slices know no others either.
inline constexpr std::size_t k_waits_shown = 200;

/// Adds the key "waits".
void write_waits(json& out, const recording& run, const page_sites& sites);

}  // namespace quern::trace::detail
