// SPDX-License-Identifier: BSL-1.0
// What the ranks of a job tell each other for their traces: which job it is, and how far their
// clocks are apart.
#pragma once

namespace quern::mpi::detail {

/// After MPI was initialised, by all ranks: rank 0 tells the others a name of the job, and whether
/// clocks are compared: its setting `trace` decides.
void join_job();

/// Before MPI is finalised, by all ranks: compares the clocks again if they were compared before.
void leave_job();

}  // namespace quern::mpi::detail
