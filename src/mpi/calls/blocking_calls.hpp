// SPDX-License-Identifier: BSL-1.0
// Functions that have no non-blocking twin and may wait for other ranks. Under MPI_THREAD_MULTIPLE
// they are in MPI beside the holder of the entrance; else they hold the entrance, and reports name
// them. README.md, section "What blocks".
#pragma once

#include "progress/operation.hpp"

#include <cstdint>

namespace quern::mpi::detail {

/// Counts it if a task calls it. If it holds the entrance, says so once for each function, when a
/// task calls it or another call waits for it. `why`, a literal: of what is said.
int run_blocking(const call_note& what, plain_operation::call_function call,
                 const char* why = "has no non-blocking form") noexcept;

/// Of tasks, since the process began.
std::uint64_t blocking_calls() noexcept;

/// A function that accesses the memory of another rank: it is short, and neither counted nor named.
int run_access(const call_note& what, plain_operation::call_function call) noexcept;

}  // namespace quern::mpi::detail
