// SPDX-License-Identifier: BSL-1.0
// Makes the counters part of every program that includes quern/quern.hpp: the layer observes the
// start and end of runtimes and obeys the settings print-counter… and list-counters. Without this
// reference a linker would drop the layer from a program that uses no name of it.
#pragma once

namespace quern::counters::detail {

/// Registers the observer of runtimes; later calls do nothing. Thread safe.
bool attach() noexcept;

/// Runs before the program constructs a runtime.
[[maybe_unused]] inline const bool k_attached = attach();

}  // namespace quern::counters::detail
