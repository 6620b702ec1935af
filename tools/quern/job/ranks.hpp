// SPDX-License-Identifier: BSL-1.0
// `quern run -n N`: starts N ranks of an MPI program through the starter of the library that it
// links, stays until the job has ended, and leaves nothing of it behind.
#pragma once

#include <string>
#include <vector>

namespace quern::tool {

struct rank_options {
    std::string count{};    ///< as the user wrote it; empty: no ranks
    std::string library{};  ///< a name of mpi_words(); empty: the one that the program links
    std::string network{};  ///< the rate, as the user wrote it; empty: as it is
};

/// The number of ranks. Throws usage_error.
unsigned rank_count(const std::string& text);

/// Runs the program at `path`; `words` is its command line. Settings are in the environment.
/// Returns the exit status of the first rank that failed, 128 and the signal if one ended it, else
/// that of the starter. Throws std::runtime_error when the job cannot be started.
int run_ranks(const rank_options& options, const std::string& path,
              const std::vector<std::string>& words);

}  // namespace quern::tool
