// SPDX-License-Identifier: BSL-1.0
// Functions that have no non-blocking twin and may wait for other ranks. Under MPI_THREAD_MULTIPLE
// they are in MPI beside the holder of the entrance; else they hold the entrance, and reports name
// them. README.md, section "What blocks".
#pragma once

#include "operation.hpp"

#include <quern/base/detail/clock.hpp>
#include <quern/base/detail/symbols.hpp>

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace quern::mpi::detail {

/// Counts it if a task calls it. If it holds the entrance, says so once for each function, when a
/// task calls it or another call waits for it. `why`, a literal: of what is said.
int run_blocking(const call_note& what, plain_operation::call_function call,
                 const char* why = "has no non-blocking form") noexcept;

/// Of tasks, since the process began.
std::uint64_t blocking_calls() noexcept;

/// A function that accesses the memory of another rank: it is short, and neither counted nor named.
int run_access(const call_note& what, plain_operation::call_function call) noexcept;

/// A call without a twin that holds the entrance.
struct long_call {
    const char* name;
    const char* why;
    quern::detail::call_chain from;
    quern::detail::tick_count since = 0;
    pid_t thread = 0;            ///< that is in MPI; kernel thread id
    bool is_waited_for = false;  ///< by another call
};

bool is_in_long_call() noexcept;
std::optional<long_call> long_call_now() noexcept;

/// Another call waits for it.
void note_wait_for_long_call() noexcept;

/// " (called in exchange() at halo.cpp:21)", or empty. Reads debug information.
std::string place_of(const long_call& one);

}  // namespace quern::mpi::detail
