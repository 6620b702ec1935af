// SPDX-License-Identifier: BSL-1.0
// Makes every program that includes it obey the settings `trace`, `profile` and `report`. Part of
// quern.hpp; nothing in it is for users.
#pragma once

namespace quern::detail {

/// From now on runtimes are recorded when their settings say so, and end recordings when they end.
/// Later calls do nothing. Thread safe. Always true.
bool attach_trace() noexcept;

inline const bool k_trace_is_attached = attach_trace();

}  // namespace quern::detail
