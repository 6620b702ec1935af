// SPDX-License-Identifier: BSL-1.0
// The settings of the trace layer, like <quern/counters/detail/settings.hpp> for its layer.
#pragma once

namespace quern::trace::detail {

/// Adds them to the table. Later calls do nothing. Thread safe.
void add_settings();

}  // namespace quern::trace::detail
