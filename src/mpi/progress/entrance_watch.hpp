// SPDX-License-Identifier: BSL-1.0
// Looks once a second how long the same call has been in the entrance: names one that keeps others
// waiting, and ends the process if a function that MPI has called waits for what cannot come.
// README.md, section "Callbacks". Starts when there is something to find.
#pragma once

namespace quern::mpi::detail {

/// From now on it looks. A call keeps others waiting, or MPI may call functions of the program.
void watch_entrance() noexcept;

/// MPI is about to be given a function that it will call.
inline void expect_callbacks() noexcept { watch_entrance(); }

/// MPI is being finalised.
void end_entrance_watch() noexcept;

}  // namespace quern::mpi::detail
