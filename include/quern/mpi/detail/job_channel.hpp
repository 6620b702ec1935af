// SPDX-License-Identifier: BSL-1.0
// How the ranks of a job tell `quern run -n` that they can do nothing by themselves, so that it
// notices when the job hangs. Written by src/mpi/job/job_watch.cpp, read by
// tools/quern/job/rank_states.cpp. A channel of its own: MPI may be what hangs. Needs no <mpi.h>.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace quern::mpi::detail {

/// The environment variable with the folder of the job. `quern run -n` sets it, and no user.
inline constexpr const char* k_job_variable = "QUERN_JOB";

/// In that folder: a socket for datagrams, each one a job_bell.
inline constexpr std::string_view k_bells_file = "states";

/// In that folder: the state of a rank, as JSON. It is complete when the bell rings.
inline std::string state_file_of(int rank) { return "state." + std::to_string(rank); }

/// In that folder: an empty file, made when the rank has initialised MPI and is watched.
inline std::string joined_file_of(int rank) { return "joined." + std::to_string(rank); }

/// In that folder: a number. For each new one every rank that can do nothing by itself writes its
/// state again, with the names of its tasks and where they wait: to find these takes long.
inline constexpr std::string_view k_question_file = "question";

struct job_bell {
    enum class kind : std::int32_t {
        waits,   ///< the rank can do nothing by itself; its state is in its file
        told,    ///< the same, and the state has all that was asked for
        runs,    ///< it is not so any more
        aborts,  ///< it has called MPI_Abort
    };
    kind what;
    std::int32_t rank;
    std::uint64_t version;  ///< of the state; of aborts: the code that was given
};

}  // namespace quern::mpi::detail
