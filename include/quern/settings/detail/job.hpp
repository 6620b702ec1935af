// SPDX-License-Identifier: BSL-1.0
// The MPI job that a process belongs to, for layers that do not know MPI. Told by variables that
// the programs that start ranks set, so it is known before MPI is initialised.
#pragma once

#include <string>
#include <string_view>

namespace quern::detail {

/// 1 if the process is in no job, or if what started it does not say how many ranks there are.
/// Reads the environment.
unsigned long ranks_of_job() noexcept;

/// As it was told, "0" if none was. Reads the environment.
std::string_view rank_in_job() noexcept;

/// Whether a setting gave that path with %r, so that it is only of this rank. The first 16 paths
/// of the process are known. Thread safe.
bool is_of_one_rank(const std::string& path) noexcept;

}  // namespace quern::detail
