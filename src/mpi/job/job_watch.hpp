// SPDX-License-Identifier: BSL-1.0
// Tells `quern run -n` when this rank can do nothing by itself: it publishes a state, over a
// channel of its own. Only all ranks together know that the job hangs; tools/quern/job/hang.cpp
// decides. Without that command nothing is watched, and calls cost one load more. Argument:
// README.md, section "Hangs of a job".
#pragma once

namespace quern::mpi::detail {

/// In the life of MPI in this process, by the thread that calls MPI_Init and MPI_Finalize.
void watch_job() noexcept;          ///< MPI has been initialised
void job_is_finalising() noexcept;  ///< this rank makes no further calls
void job_is_finalised() noexcept;

/// MPI_Abort has been called, by any thread: the starter may end other ranks before this one.
void job_is_aborted(int code) noexcept;

}  // namespace quern::mpi::detail
