// SPDX-License-Identifier: BSL-1.0
// Makes every program that includes it obey the settings `trace`, `profile` and `report`. Part of
// quern.hpp; not for users.
#pragma once

namespace quern::detail {

/// From now on runtimes are recorded if their settings say so, and recordings end with them. Later
/// calls do nothing. Thread safe. Always true.
bool attach_trace() noexcept;

inline const bool k_trace_is_attached = attach_trace();

}  // namespace quern::detail
