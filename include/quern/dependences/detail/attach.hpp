// SPDX-License-Identifier: BSL-1.0
// Makes every program that includes it know the setting and the knob of this layer. Part of
// domain.hpp; not for users.
#pragma once

#include <quern/base/detail/config.hpp>

namespace quern::detail {

/// Registers them. Later calls do nothing. Thread safe. Always true.
bool attach_dependences();

[[maybe_unused]] inline const bool k_dependences_are_attached = attach_dependences();

}  // namespace quern::detail
