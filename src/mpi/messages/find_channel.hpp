// SPDX-License-Identifier: BSL-1.0
// The number of a communicator (notes/communicators.hpp) for a caller that is not in the entrance.
#pragma once

#include "notes/communicators.hpp"

#include <mpi.h>

namespace quern::mpi::detail {

/// As channel_of(), entering MPI where that is necessary.
channel find_channel(MPI_Comm comm) noexcept;

/// For MPI_Comm_dup, which copies attributes but does not tell them the handle. Enters MPI if the
/// job is watched. Returns `code`.
int has_duplicated(const MPI_Comm* made, int code) noexcept;

}  // namespace quern::mpi::detail
