// SPDX-License-Identifier: BSL-1.0
// What the counters ask about restarts.
#pragma once

#include <cstdint>

namespace quern::mpi::detail {

/// Since the process began.
std::uint64_t restarts() noexcept;

}  // namespace quern::mpi::detail
