// SPDX-License-Identifier: BSL-1.0
// The pieces of the page that are files of their own (src/trace/page), as the build embeds them.
// Private to the layer.
#pragma once

#include <string_view>

namespace quern::trace::detail {

/// The frame, with {{words in braces}} where the rest belongs.
extern const std::string_view k_page_frame;
extern const std::string_view k_page_style;
extern const std::string_view k_page_script;

}  // namespace quern::trace::detail
