// SPDX-License-Identifier: BSL-1.0
// The counters /parcels and /agas, added to each process that has sessions.
#pragma once

namespace quern::localities::detail {

/// Installs them until the process ends. Called once, while static objects are made. Returns true.
bool install_counters();

}  // namespace quern::localities::detail
