// SPDX-License-Identifier: BSL-1.0
// What operations ask about the scopes waiting_mode.
#pragma once

#include <quern/mpi/waiting_mode.hpp>

namespace quern::mpi::detail {

/// Of the calling task or thread.
waiting waiting_here() noexcept;

}  // namespace quern::mpi::detail
