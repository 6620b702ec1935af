// SPDX-License-Identifier: BSL-1.0
// Whether bytes of this process are on their way through the kernel: a message that travels over a
// slow network may take any time, and the ranks of a job have nothing to do meanwhile.
#pragma once

namespace quern::mpi::detail {

/// Whether every TCP socket of this process has been connected, and has neither bytes that the
/// other side has not confirmed nor bytes that this process has not read. False also if the system
/// does not tell. Cost: some system calls for each open file.
bool tcp_queues_are_empty();

}  // namespace quern::mpi::detail
