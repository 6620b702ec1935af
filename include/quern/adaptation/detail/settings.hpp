// SPDX-License-Identifier: BSL-1.0
// The settings of the adaptation layer, like <quern/counters/detail/settings.hpp> for its layer.
#pragma once

namespace quern::adaptation::detail {

/// Adds them to the table. Later calls do nothing. Thread safe.
void add_settings();

}  // namespace quern::adaptation::detail
