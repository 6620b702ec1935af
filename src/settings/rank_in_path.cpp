// SPDX-License-Identifier: BSL-1.0
// The rank of the process in its MPI job, and the number of ranks. MPI need not be initialised yet:
// the programs that start ranks tell both by variables. %r in the value of a path is the rank, so
// that the processes of a job, which inherit one environment, write files of their own.
#include "parts.hpp"

#include <quern/settings/detail/job.hpp>

#include <charconv>
#include <cstdlib>
#include <initializer_list>

namespace quern::detail {

namespace {

/// The value of the first one that is set; null if none is.
const char* first_set(std::initializer_list<const char*> variables) noexcept {
    for (const char* const name : variables) {
        if (const char* const value = std::getenv(name); value != nullptr && *value != '\0') {
            return value;
        }
    }
    return nullptr;
}

}  // namespace

/// Open MPI, MPICH and its relatives, MVAPICH2, srun.
unsigned long ranks_of_job() noexcept {
    const char* const value = first_set(
        {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"});
    if (value == nullptr) {
        return 1;
    }
    const std::string_view text(value);
    unsigned long ranks = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ranks);
    return error == std::errc{} && end == text.data() + text.size() && ranks > 0 ? ranks : 1;
}

std::string with_rank(std::string path) {
    constexpr std::string_view k_place = "%r";
    std::size_t at = path.find(k_place);
    if (at == std::string::npos) {
        return path;
    }
    const char* const told = first_set({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"});
    const std::string_view rank = told != nullptr ? told : "0";  // it is not part of a job
    for (; at != std::string::npos; at = path.find(k_place, at)) {
        path.replace(at, k_place.size(), rank);
    }
    return path;
}

}  // namespace quern::detail
