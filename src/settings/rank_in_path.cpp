// SPDX-License-Identifier: BSL-1.0
// The rank of the process in its MPI job, and the number of ranks. MPI need not be initialised yet:
// the programs that start ranks tell both by variables. %r in the value of a path is the rank, so
// that the processes of a job, which inherit one environment, write files of their own.
#include "parts.hpp"

#include <quern/settings/detail/job.hpp>

#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <functional>
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

/// Hashes of the paths that have a rank; 0: none yet. Without a lock, as settings are read under
/// one of the process's.
constinit std::array<std::atomic<std::uint64_t>, 16> g_of_one_rank{};

std::uint64_t mark_of(const std::string& path) noexcept {
    return std::hash<std::string>{}(path) | 1U;
}

void remember(const std::string& path) noexcept {
    const std::uint64_t mark = mark_of(path);
    for (std::atomic<std::uint64_t>& each : g_of_one_rank) {
        std::uint64_t is = 0;
        if (each.compare_exchange_strong(is, mark, std::memory_order_relaxed) || is == mark) {
            return;
        }
    }
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

std::string_view rank_in_job() noexcept {
    const char* const told = first_set({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"});
    return told != nullptr ? told : "0";
}

bool is_of_one_rank(const std::string& path) noexcept {
    const std::uint64_t mark = mark_of(path);
    for (const std::atomic<std::uint64_t>& each : g_of_one_rank) {
        if (each.load(std::memory_order_relaxed) == mark) {
            return true;
        }
    }
    return false;
}

std::string with_rank(std::string path) {
    constexpr std::string_view k_place = "%r";
    std::size_t at = path.find(k_place);
    if (at == std::string::npos) {
        return path;
    }
    const std::string_view rank = rank_in_job();
    for (; at != std::string::npos; at = path.find(k_place, at)) {
        path.replace(at, k_place.size(), rank);
    }
    remember(path);
    return path;
}

}  // namespace quern::detail
