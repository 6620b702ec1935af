// SPDX-License-Identifier: BSL-1.0
// How a running dependent task begins again: its function is left by an exception, the task is
// queued behind one ready task, and the function is called again from its beginning. For the layer
// mpi. Source: the restart mechanism of MPI/OmpSs (Marjanovic's thesis, 5.2.1).
#pragma once

namespace quern::detail {

/// What the function is left by. Not derived from std::exception: it is no error.
struct restart_of_task {};

/// Why the caller cannot begin again, as the end of a sentence, or null.
const char* why_no_restart() noexcept;

/// Requires: why_no_restart() == null.
[[noreturn]] void restart_running_task();

}  // namespace quern::detail
