// SPDX-License-Identifier: BSL-1.0
// The resources of this process, as the kernel reports them.
#pragma once

#include <cstddef>

namespace quern_test {

/// Physical memory in bytes.
std::size_t resident_bytes();

/// Address space in bytes.
std::size_t mapped_bytes();

/// Number of threads, including the calling one, without those that have ended, whether the kernel
/// has removed them or not.
std::size_t thread_count();

/// Number of threads once it is stable and at least one thread besides the first has been seen:
/// then sanitizers have started theirs.
std::size_t thread_count_at_rest();

/// Waits up to ten seconds for that number of threads; returns whether it was reached.
bool becomes_thread_count(std::size_t count);

/// CPU time of all threads since the process began, in seconds.
double cpu_seconds();
/// The same without the calling thread.
double cpu_seconds_of_others();

/// How often threads of this process, ended ones included, have gone to sleep.
long wake_ups();

}  // namespace quern_test
