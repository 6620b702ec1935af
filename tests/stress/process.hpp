// SPDX-License-Identifier: BSL-1.0
// What this process uses, as the kernel sees it.
#pragma once

#include <cstddef>

namespace quern_test {

/// Physical memory in bytes.
std::size_t resident_bytes();

/// Address space in bytes.
std::size_t mapped_bytes();

/// Threads, the calling one included.
std::size_t thread_count();

/// CPU time of all threads since the process began, in seconds.
double cpu_seconds();

}  // namespace quern_test
