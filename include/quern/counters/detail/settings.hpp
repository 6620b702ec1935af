// SPDX-License-Identifier: BSL-1.0
// The settings of the counters layer. A program that attaches the layer has them. A program that
// shows settings but obeys none, such as the command quern, adds them explicitly.
#pragma once

namespace quern::counters::detail {

/// Adds the settings of printing, listing, metrics and live inspection to the table. Later calls do
/// nothing. Thread safe.
void add_settings();

}  // namespace quern::counters::detail
