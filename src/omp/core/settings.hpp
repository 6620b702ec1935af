// SPDX-License-Identifier: BSL-1.0
// What the OMP_* variables say, read once, and the values that each task has of them ("internal
// control variables" in OpenMP's text).
#pragma once

#include <quern/base/detail/config.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace quern::omp {

enum class schedule_kind : std::uint8_t { fixed = 1, dynamic = 2, guided = 3, automatic = 4 };

/// The values of a task; a task that changes one gets a copy of its own.
struct control_values {
    unsigned threads = 1;  ///< of a region that does not say how many
    unsigned most_active_levels = 1;
    schedule_kind schedule = schedule_kind::dynamic;
    bool is_monotonic = false;
    bool adjusts_threads = false;  ///< OMP_DYNAMIC
    long chunk = 1;                ///< 0: none given
};

/// The same in the whole process.
struct settings {
    control_values initial;
    std::vector<unsigned> threads_by_level;  ///< OMP_NUM_THREADS, if it has been given
    unsigned processors = 1;                 ///< that this process may use
    unsigned thread_limit = 0;
    unsigned highest_priority = 0;
    bool cancels = false;  ///< OMP_CANCELLATION
    std::string affinity_format = "level %L thread %i affinity %A";
    unsigned teams = 0;               ///< OMP_NUM_TEAMS; 0: not given
    unsigned teams_thread_limit = 0;  ///< OMP_TEAMS_THREAD_LIMIT; 0: not given
    bool waits_actively = false;      ///< OMP_WAIT_POLICY=active
    bool waits_passively = false;     ///< OMP_WAIT_POLICY=passive
};

inline constexpr unsigned k_most_threads = 4095;
inline constexpr unsigned k_most_levels = 255;

/// Read at the first call. Thread safe. Unusable values are told on stderr, and the default counts.
const settings& the_settings();

/// "quern: " and the text on stderr, then the end of the process.
[[noreturn]] QUERN_COLD void fatal(const char* format, ...) noexcept
    __attribute__((format(printf, 1, 2)));

/// For what is not there yet: names it, and ends the process.
[[noreturn]] QUERN_COLD void is_missing(const char* what) noexcept;

}  // namespace quern::omp
