// SPDX-License-Identifier: BSL-1.0
// The parts of the page from files of their own (src/trace/page), embedded by the build. Private to
// the layer.
#pragma once

#include <string_view>

namespace quern::trace::detail {

/// The frame, with {{words in braces}} as placeholders.
extern const std::string_view k_page_frame;
extern const std::string_view k_page_style;
extern const std::string_view k_page_script;

}  // namespace quern::trace::detail
