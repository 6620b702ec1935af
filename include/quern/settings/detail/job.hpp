// SPDX-License-Identifier: BSL-1.0
// The MPI job that a process belongs to, for layers that do not know MPI. Told by variables that
// the programs that start ranks set, so it is known before MPI is initialised.
#pragma once

namespace quern::detail {

/// 1 if the process is in no job, or if what started it does not say how many ranks there are.
/// Reads the environment.
unsigned long ranks_of_job() noexcept;

}  // namespace quern::detail
