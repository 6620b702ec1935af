// SPDX-License-Identifier: BSL-1.0
// Communicators for collectives of concurrent tasks: MPI matches the collectives of a communicator
// by the order in which they are called, which tasks do not have. A key takes its place.
#pragma once

#include <quern/base/detail/config.hpp>

#include <mpi.h>

namespace quern::mpi {

/// The duplicate of `comm` for a key: on all ranks the same duplicate for the same key, in
/// whichever order their tasks ask. The first call for a key makes it and is collective; later ones
/// find it. The collectives of tasks with different keys cannot be mistaken for each other; those
/// with one key must be ordered by the program, e.g. by a dependence.
///
///     quern::task_group all;
///     for (int i = 0; i < 3; ++i) {
///         all.run([i] {  // the ranks run these in different orders
///             int sum = i;
///             MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM,
///                           quern::mpi::keyed(MPI_COMM_WORLD, i));
///         });
///     }
///     all.wait();
///
/// The first call for a communicator is a collective of that communicator itself: no other may be
/// called on it at that time. The duplicates live until MPI is finalised. How: rank 0 decides the
/// order in which duplicates are made, and tells the others.
/// Errors: std::invalid_argument for an intercommunicator or MPI_COMM_NULL; `error` if MPI fails.
/// Thread safety: any task or thread, and it suspends. Cost: a search; the first call of a key a
/// message to each rank and MPI_Comm_idup.
MPI_Comm keyed(MPI_Comm comm, int key);

}  // namespace quern::mpi
