// SPDX-License-Identifier: BSL-1.0
// Called by a static object of the generated source, so that a program which calls MPI has this
// layer.
#pragma once

namespace quern::mpi::detail {

/// Makes this layer known to the runtimes of the process. Called while static objects are made,
/// before there can be a runtime. Later calls do nothing.
bool attach_mpi();

}  // namespace quern::mpi::detail
