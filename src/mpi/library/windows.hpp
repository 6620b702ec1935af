// SPDX-License-Identifier: BSL-1.0
// Whether other ranks may access memory of this process. MPI serves them only while this process
// calls MPI, so a rank that waits must call it often, although nothing of its own may end soon.
#pragma once

namespace quern::mpi::detail {

/// For functions that make a window. Returns `code`.
int window_made(int code) noexcept;
/// For MPI_Win_free. Returns `code`.
int window_freed(int code) noexcept;

bool has_windows() noexcept;

}  // namespace quern::mpi::detail
