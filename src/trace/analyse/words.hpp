// SPDX-License-Identifier: BSL-1.0
// The names of the text kit (base/detail/text.hpp, base/detail/json.hpp) that the layer's reports
// use.
#pragma once

#include <quern/base/detail/json.hpp>
#include <quern/base/detail/text.hpp>

namespace quern::trace::detail {

using quern::detail::clean_text;
using quern::detail::count_words;
using quern::detail::duration_words;
using quern::detail::fixed;
using quern::detail::json;
using quern::detail::left;
using quern::detail::one_line;
using quern::detail::percent_words;
using quern::detail::precision;
using quern::detail::right;
using quern::detail::rounded;
using quern::detail::short_number;

}  // namespace quern::trace::detail
