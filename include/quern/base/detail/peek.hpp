// SPDX-License-Identifier: BSL-1.0
// Reads memory of this process that may be unmapped or changing. For reports of crashes and hangs,
// which inspect running tasks. One system call each: never on a fast path.
#pragma once

#include <cstddef>

namespace quern::detail {

/// Copies memory; false if it is unmapped. Safe in a signal handler.
bool copy_if_there(void* to, const void* from, std::size_t bytes) noexcept;

}  // namespace quern::detail
