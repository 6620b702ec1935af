// SPDX-License-Identifier: BSL-1.0
// %r in the value of a path: the rank of the process in its MPI job, so that the processes of a
// job, which inherit one environment, write files of their own. MPI need not be initialised yet:
// the programs that start ranks tell it by variables.
#include "parts.hpp"

#include <cstdlib>

namespace quern::detail {

std::string with_rank(std::string path) {
    constexpr std::string_view k_place = "%r";
    std::size_t at = path.find(k_place);
    if (at == std::string::npos) {
        return path;
    }
    const char* rank = "0";  // it is not part of a job
    for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}) {
        if (const char* const value = std::getenv(name); value != nullptr && *value != '\0') {
            rank = value;
            break;
        }
    }
    for (; at != std::string::npos; at = path.find(k_place, at)) {
        path.replace(at, k_place.size(), rank);
    }
    return path;
}

}  // namespace quern::detail
