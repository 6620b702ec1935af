// SPDX-License-Identifier: BSL-1.0
// Enters MPI for the attribute of a communicator.
#include "messages/find_channel.hpp"

#include "notes/watched_job.hpp"
#include "progress/engine.hpp"

namespace quern::mpi::detail {

channel find_channel(MPI_Comm comm) noexcept {
    if (comm == MPI_COMM_WORLD || comm == MPI_COMM_NULL) {
        return channel_of(comm);
    }
    static constexpr quern::detail::wait_kind kind{"a number of a communicator"};
    channel found;
    run_plain({.kind = &kind}, [&] {
        found = channel_of(comm);
        return MPI_SUCCESS;
    });
    return found;
}

int has_duplicated(const MPI_Comm* made, int code) noexcept {
    if (code == MPI_SUCCESS && is_watched()) {
        find_channel(*made);
    }
    return code;
}

}  // namespace quern::mpi::detail
