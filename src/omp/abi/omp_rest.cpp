// SPDX-License-Identifier: BSL-1.0
// Functions omp_* of OpenMP 4.5 to 5.2 about places, resources and settings. There are no places.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/exported.hpp"
#include "core/settings.hpp"
#include "core/team.hpp"

#include <cstdint>
#include <cstdio>

using namespace quern::omp;

QUERN_OMP_ENTRY int omp_in_explicit_task() { return this_member().current->is_explicit ? 1 : 0; }

QUERN_OMP_ENTRY int omp_get_place_num_procs(int) { return 0; }
QUERN_OMP_ENTRY void omp_get_place_proc_ids(int, int*) {}
QUERN_OMP_ENTRY void omp_get_partition_place_nums(int*) {}
QUERN_OMP_ENTRY std::int32_t omp_in_explicit_task_() { return omp_in_explicit_task(); }
QUERN_OMP_ENTRY std::int32_t omp_get_place_num_procs_(const std::int32_t*) { return 0; }
QUERN_OMP_ENTRY std::int32_t omp_get_place_num_procs_8_(const std::int64_t*) { return 0; }
QUERN_OMP_ENTRY void omp_get_place_proc_ids_(const std::int32_t*, std::int32_t*) {}
QUERN_OMP_ENTRY void omp_get_place_proc_ids_8_(const std::int64_t*, std::int64_t*) {}
QUERN_OMP_ENTRY void omp_get_partition_place_nums_(std::int32_t*) {}
QUERN_OMP_ENTRY void omp_get_partition_place_nums_8_(std::int64_t*) {}

// Threads that wait between regions use nothing that could be given back: 0 means done.
QUERN_OMP_ENTRY int omp_pause_resource(int, int) { return 0; }
QUERN_OMP_ENTRY int omp_pause_resource_all(int) { return 0; }
QUERN_OMP_ENTRY std::int32_t omp_pause_resource_(const std::int32_t*, const std::int32_t*) {
    return 0;
}
QUERN_OMP_ENTRY std::int32_t omp_pause_resource_all_(const std::int32_t*) { return 0; }

// No tool is there: -2 means so.
QUERN_OMP_ENTRY int omp_control_tool(int, int, void*) {
    constexpr int k_no_tool = -2;
    return k_no_tool;
}
QUERN_OMP_ENTRY std::int32_t omp_control_tool_(const std::int32_t*, const std::int32_t*, void*) {
    return omp_control_tool(0, 0, nullptr);
}

QUERN_OMP_ENTRY void omp_display_env(int) {
    constexpr const char* k_names[] = {"", "STATIC", "DYNAMIC", "GUIDED", "AUTO"};
    const settings& all = the_settings();
    const control_values& values = all.initial;
    std::fprintf(
        stderr,
        "OPENMP DISPLAY ENVIRONMENT BEGIN\n"
        "  _OPENMP = '201511'\n"
        "  [host] OMP_AFFINITY_FORMAT = '%s'\n"
        "  [host] OMP_CANCELLATION = '%s'\n"
        "  [host] OMP_DYNAMIC = '%s'\n"
        "  [host] OMP_MAX_ACTIVE_LEVELS = '%u'\n"
        "  [host] OMP_MAX_TASK_PRIORITY = '%u'\n"
        "  [host] OMP_NUM_THREADS = '%u'\n"
        "  [host] OMP_NUM_TEAMS = '%u'\n"
        "  [host] OMP_SCHEDULE = '%s,%ld'\n"
        "  [host] OMP_TEAMS_THREAD_LIMIT = '%u'\n"
        "  [host] OMP_THREAD_LIMIT = '%u'\n"
        "  [host] OMP_WAIT_POLICY = '%s'\n"
        "OPENMP DISPLAY ENVIRONMENT END\n",
        all.affinity_format.c_str(), all.cancels ? "TRUE" : "FALSE",
        values.adjusts_threads ? "TRUE" : "FALSE", values.most_active_levels, all.highest_priority,
        values.threads, all.teams, k_names[static_cast<unsigned>(values.schedule)], values.chunk,
        all.teams_thread_limit, all.thread_limit, all.waits_actively ? "ACTIVE" : "PASSIVE");
}
QUERN_OMP_ENTRY void omp_display_env_(const std::int32_t* details) { omp_display_env(*details); }
QUERN_OMP_ENTRY void omp_display_env_8_(const std::int64_t* details) {
    omp_display_env(*details != 0 ? 1 : 0);
}

// NOLINTEND(readability-identifier-naming)
