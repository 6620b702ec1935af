// SPDX-License-Identifier: BSL-1.0
// An error that ends the job is named by the call of the program before the library ends it: the
// library knows the call that has found it, such as a test of several requests, or none. MPICH's
// errors are raised by this layer (errors.hpp). Open MPI raises them in the test, so the fatal
// handler of a communicator on which messages are received is replaced by one that says the words
// first; it is put back before the program asks for it.
#pragma once

#include "progress/operation.hpp"

#include <mpi.h>

namespace quern::mpi::detail {

/// "quern: MPI_Recv from rank 1 of MPI_COMM_WORLD, tag 7, up to 4 bytes, in task 'left edge' has
/// failed: ...". Inside the entrance.
void say_failure(const call_note& note, int code) noexcept;

/// The same if errors of the call's communicator end the job.
void say_if_fatal(const call_note& note, int code) noexcept;

/// A message will be received on that communicator. Inside the entrance.
void prepare_errors(MPI_Comm on) noexcept;

/// The program asks for the handler of that communicator: it is the one that it knows.
void restore_errors(MPI_Comm of) noexcept;

}  // namespace quern::mpi::detail
