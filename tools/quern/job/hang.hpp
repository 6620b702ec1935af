// SPDX-License-Identifier: BSL-1.0
// Whether a job hangs, from the states that all its ranks have published, and why: which calls wait
// for what, and what almost fits. The argument is in src/mpi/README.md, section "Hangs of a job".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace quern::tool {

/// A call of MPI that a task or a thread waits for, or that has given a request. Ranks are those of
/// MPI_COMM_WORLD.
struct job_call {
    static constexpr int k_any = -1;
    static constexpr int k_none = -2;
    enum class way : int { sent, received, collective, other };

    std::string name;
    way how = way::other;    ///< other: it may end by itself
    std::uint64_t comm = 0;  ///< 0: not known
    int peer = k_none;
    int tag = k_none;
    std::int64_t bytes = -1;
    int root = k_none;
    std::uint64_t place = 0;  ///< of a collective call on its communicator, from 1
};

struct job_wait {
    std::string who;      ///< "task 'left edge'"; may be empty
    bool is_any = false;  ///< the end of one of its calls is enough
    std::vector<job_call> calls;
};

/// A message that has come and that no receive takes.
struct job_message {
    std::uint64_t comm;
    int source;
    int destination;
    int tag;
    std::int64_t bytes;
};

struct job_comm {
    std::string name;
    std::vector<int> members;
    std::uint64_t calls = 0;  ///< collective calls so far
    std::vector<job_call> last;
};

struct rank_state {
    int rank = 0;
    std::uint64_t version = 0;
    bool is_finalised = false;
    std::string unknown;  ///< a call whose effects are not known; empty: none
    std::string report;   ///< the waits in words
    std::vector<job_wait> waits;
    std::vector<job_call> open;  ///< requests that have not ended
    std::vector<job_message> arrived;
    std::map<std::uint64_t, job_comm> comms;
};

/// Of the text that a rank has published. Throws json_error.
rank_state read_state(const std::string& text);

/// Whether no call that is waited for can end, and there is one. Requires: the states of all ranks,
/// in their order.
bool hangs(const std::vector<rank_state>& job);

/// The same for one call of one rank.
bool may_end(const std::vector<rank_state>& job, int rank, const job_call& call);

/// The members of its communicator that have not made this collective call.
std::vector<int> missing_in(const std::vector<rank_state>& job, const job_comm& on,
                            std::uint64_t comm, std::uint64_t place);

/// What a rank has called at that place, or null.
const job_call* called_at(const rank_state& rank, std::uint64_t comm, std::uint64_t place);

/// "MPI_Barrier" of MPI_Ibarrier and MPI_Barrier_c: forms that match each other.
std::string plain_name(const std::string& name);

/// All of the report.
std::string describe(const std::vector<rank_state>& job);

}  // namespace quern::tool
