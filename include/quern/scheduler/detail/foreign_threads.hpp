// SPDX-License-Identifier: BSL-1.0
// Threads of foreign libraries that never wake a task by themselves, so that hang reports do not
// wait for them (process_registry.hpp: harmless_thread, for Quern's own).
#pragma once

#include <sys/types.h>

namespace quern::detail {

/// By its kernel thread id. Thread safe. A child of fork() forgets it.
void declare_harmless(pid_t thread);

/// All that were declared: they are about to end, and their ids may belong to other threads then.
void forget_harmless() noexcept;

}  // namespace quern::detail
