// SPDX-License-Identifier: BSL-1.0
// The setting check-accesses.
#pragma once

namespace quern::detail {

/// From now on each runtime that is made obeys the setting.
void attach_access_checks() noexcept;

}  // namespace quern::detail
