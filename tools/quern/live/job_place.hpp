// SPDX-License-Identifier: BSL-1.0
// Which rank of which MPI job a running process is.
#pragma once

#include <sys/types.h>

#include <optional>

namespace quern::tool {

/// In which the starters of Open MPI and MPICH tell a rank its number.
inline constexpr const char* k_rank_variables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK"};

struct job_place {
    int rank = 0;
    int ranks = 1;      ///< of the whole job, on all machines
    pid_t starter = 0;  ///< the process that has started this machine's ranks of the job
};

/// Nothing: no starter of Open MPI or MPICH has begun it, or its environment cannot be read.
std::optional<job_place> place_in_job(pid_t process);

}  // namespace quern::tool
