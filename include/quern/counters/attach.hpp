// SPDX-License-Identifier: BSL-1.0
// Makes the counters part of a program that includes quern/quern.hpp: runtimes tell them when they
// start and end, and the settings print-counter… and list-counters are obeyed. Without it a linker
// would leave the layer out of a program that names nothing of it.
#pragma once

namespace quern::counters::detail {

/// Registers the observer of runtimes, once however often it is called. Thread safe.
bool attach() noexcept;

/// Before any runtime of the program is made.
[[maybe_unused]] inline const bool k_attached = attach();

}  // namespace quern::counters::detail
