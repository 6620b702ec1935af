// SPDX-License-Identifier: BSL-1.0
// Words for a kind of task: the user's name or the function, and file and line.
#pragma once

#include "record/site_table.hpp"

#include <quern/scheduler/detail/site_words.hpp>

namespace quern::trace::detail {

using quern::detail::split_place;
using site_name = quern::detail::site_words;

/// Slow: reads debug information. Never empty.
site_name name_site(const site_count& site);

}  // namespace quern::trace::detail
