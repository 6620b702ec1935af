// SPDX-License-Identifier: BSL-1.0
// Calls of a runtime to its registered observers. Does nothing when there are none.
#pragma once

#include <quern/scheduler/observers.hpp>

namespace quern::detail {

bool has_observers() noexcept;
void check_observers(const settings& chosen);
void tell_started(runtime& which, const settings& chosen) noexcept;
void tell_ends(runtime& which) noexcept;

}  // namespace quern::detail
