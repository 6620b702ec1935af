// SPDX-License-Identifier: BSL-1.0
// The counters /mpi, added to the process by attach_mpi().
#pragma once

namespace quern::mpi::detail {

/// Installs the counters /mpi until the process ends. Called once.
void install_counters();

}  // namespace quern::mpi::detail
