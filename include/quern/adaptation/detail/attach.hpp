// SPDX-License-Identifier: BSL-1.0
// Makes every program that uses adaptation obey its settings and have its counters. Without this
// reference a linker would drop the layer from a program that uses only inline functions of it.
#pragma once

namespace quern::adaptation::detail {

/// Adds the settings and counters of the layer and its observer of runtimes. Later calls do
/// nothing. Thread safe. Always true.
bool attach() noexcept;

[[maybe_unused]] inline const bool k_attached = attach();

}  // namespace quern::adaptation::detail
