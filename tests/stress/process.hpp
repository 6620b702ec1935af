// SPDX-License-Identifier: BSL-1.0
// What this process uses, as the kernel sees it.
#pragma once

#include <cstddef>

namespace quern_test {

/// Physical memory in bytes.
std::size_t resident_bytes();

/// Address space in bytes.
std::size_t mapped_bytes();

/// Threads, the calling one included, and those that were joined and that the kernel has not taken
/// away yet.
std::size_t thread_count();

/// Threads when that has not changed for a while, and there has been one besides the first: then
/// sanitizers have theirs.
std::size_t thread_count_at_rest();

/// Waits until there are so many threads, for up to ten seconds; whether it came to that.
bool becomes_thread_count(std::size_t count);

/// CPU time of all threads since the process began, in seconds.
double cpu_seconds();

}  // namespace quern_test
