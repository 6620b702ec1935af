// SPDX-License-Identifier: BSL-1.0
// What a job needs before it starts: the environment of its ranks, the starter's command line, and
// the file from which each rank's keeper reads what to run.
#pragma once

#include "job/mpi_library.hpp"

#include <string>
#include <vector>

namespace quern::tool {

/// Each rank gets its part of the processors, unless the setting `threads` has been set.
void divide_threads(unsigned ranks);

/// For the ranks of one machine, or of one with a network of its own. Variables that the user has
/// set are left as they are, but those that choose the network.
void set_library_variables(mpi_library library, bool is_networked, const std::string& folder);

/// The command line that starts a keeper (rank_keeper.hpp) for each rank.
std::vector<std::string> starter_words(const mpi_choice& mpi, unsigned ranks,
                                       const std::string& folder);

/// Throws std::runtime_error when the folder cannot be written.
void write_command(const std::string& folder, const std::string& path,
                   const std::vector<std::string>& words);

}  // namespace quern::tool
