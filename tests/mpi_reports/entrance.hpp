// SPDX-License-Identifier: BSL-1.0
// Jobs in which a call stays in the entrance: a function that MPI calls waits or throws, and a call
// without a non-blocking form waits for a message that cannot be passed meanwhile. None ends.
#pragma once

/// An operator waits for a lock, whose holder waits for a message.
void operator_waits_for_ever(int rank);
void operator_throws();

/// Too long a message for its place, in a task: received by one call, or by two. Either ends the
/// job.
void receive_too_much(int rank, bool at_once);

/// A thread that is no worker splits a communicator; the other rank needs a message first.
void call_for_long(int rank);
