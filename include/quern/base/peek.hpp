// SPDX-License-Identifier: BSL-1.0
// Reading memory of this process that may be gone or change meanwhile. For reports of crashes and
// hangs, which look at what belongs to tasks that run. A system call each: never on a fast path.
#pragma once

#include <cstddef>

namespace quern::detail {

/// Copies memory that may be gone: false then. Safe in a signal handler.
bool copy_if_there(void* to, const void* from, std::size_t bytes) noexcept;

}  // namespace quern::detail
