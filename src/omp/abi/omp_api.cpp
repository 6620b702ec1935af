// SPDX-License-Identifier: BSL-1.0
// The functions omp_* of C and C++, and their names for Fortran, which passes references.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/exported.hpp"
#include "core/settings.hpp"
#include "core/team.hpp"

#include <quern/version.hpp>

#include <algorithm>
#include <cstdint>

#include <time.h>

using namespace quern::omp;

namespace {

using f_int = std::int32_t;

/// The team around which is at that level, seen from the calling member; null: there is none.
const member* member_at_level(int level) noexcept {
    const member* each = &this_member();
    if (level < 0 || static_cast<unsigned>(level) > each->of->level) {
        return nullptr;
    }
    while (each->of->level != static_cast<unsigned>(level)) {
        each = each->of->creator;
    }
    return each;
}

void set_threads(int threads) noexcept {
    change_values(this_member()).threads =
        threads > 0 ? std::min(static_cast<unsigned>(threads), k_most_threads) : 1;
}

void set_levels(int levels) noexcept {
    if (levels >= 0) {
        change_values(this_member()).most_active_levels =
            std::min(static_cast<unsigned>(levels), k_most_levels);
    }
}

constexpr unsigned k_monotonic = 0x80000000U;

void set_schedule(unsigned kind, int chunk) noexcept {
    const unsigned plain = kind & ~k_monotonic;
    if (plain < 1 || plain > 4) {
        return;
    }
    control_values& own = change_values(this_member());
    own.schedule = static_cast<schedule_kind>(plain);
    own.is_monotonic = (kind & k_monotonic) != 0;
    const bool is_fixed = own.schedule == schedule_kind::fixed;
    own.chunk = own.schedule == schedule_kind::automatic ? 0 : std::max(chunk, is_fixed ? 0 : 1);
}

void get_schedule(f_int* kind, f_int* chunk) noexcept {
    const control_values& values = *this_member().current->values;
    *kind = static_cast<f_int>(static_cast<unsigned>(values.schedule) |
                               (values.is_monotonic ? k_monotonic : 0));
    *chunk = static_cast<f_int>(values.chunk);
}

int most_levels() noexcept {
    return static_cast<int>(this_member().current->values->most_active_levels);
}

double seconds(const timespec& time) noexcept {
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

/// Shows that the program runs on Quern: found by dlsym.
QUERN_OMP_ENTRY const char* quern_omp_version() { return QUERN_VERSION_STRING; }

// A function without arguments, for C and for Fortran.
#define QUERN_OMP_GET(NAME, VALUE)                                 \
    QUERN_OMP_ENTRY int NAME() { return static_cast<int>(VALUE); } \
    QUERN_OMP_ENTRY f_int NAME##_() { return NAME(); }

QUERN_OMP_GET(omp_get_num_threads, this_member().of->size)
QUERN_OMP_GET(omp_get_thread_num, this_member().number)
QUERN_OMP_GET(omp_get_max_threads, this_member().current->values->threads)
QUERN_OMP_GET(omp_get_num_procs, the_settings().processors)
QUERN_OMP_GET(omp_in_parallel, this_member().of->active_level != 0)
QUERN_OMP_GET(omp_get_dynamic, this_member().current->values->adjusts_threads)
QUERN_OMP_GET(omp_get_nested, most_levels() > 1)
QUERN_OMP_GET(omp_get_thread_limit, the_settings().thread_limit)
QUERN_OMP_GET(omp_get_max_active_levels, most_levels())
QUERN_OMP_GET(omp_get_supported_active_levels, k_most_levels)
QUERN_OMP_GET(omp_get_level, this_member().of->level)
QUERN_OMP_GET(omp_get_active_level, this_member().of->active_level)
QUERN_OMP_GET(omp_in_final, this_member().current->is_final)
QUERN_OMP_GET(omp_get_cancellation, the_settings().cancels)
QUERN_OMP_GET(omp_get_proc_bind, 0)
QUERN_OMP_GET(omp_get_num_places, 0)
QUERN_OMP_GET(omp_get_place_num, -1)
QUERN_OMP_GET(omp_get_partition_num_places, 0)
QUERN_OMP_GET(omp_get_max_task_priority, the_settings().highest_priority)
QUERN_OMP_GET(omp_get_num_devices, 0)
QUERN_OMP_GET(omp_get_default_device, 0)
QUERN_OMP_GET(omp_get_initial_device, 0)
QUERN_OMP_GET(omp_get_device_num, 0)
QUERN_OMP_GET(omp_is_initial_device, 1)
#undef QUERN_OMP_GET

// A function with one number.
#define QUERN_OMP_SET(NAME, ARGUMENT, CALL)                                \
    QUERN_OMP_ENTRY void NAME(int ARGUMENT) { CALL; }                      \
    QUERN_OMP_ENTRY void NAME##_(const f_int* p) { NAME(*p); }             \
    QUERN_OMP_ENTRY void NAME##_8_(const std::int64_t* p) {                \
        NAME(static_cast<int>(std::clamp<std::int64_t>(*p, -1, 1 << 30))); \
    }

QUERN_OMP_SET(omp_set_num_threads, threads, set_threads(threads))
QUERN_OMP_SET(omp_set_dynamic, on, change_values(this_member()).adjusts_threads = on != 0)
QUERN_OMP_SET(omp_set_nested, on, set_levels(on != 0 ? static_cast<int>(k_most_levels) : 1))
QUERN_OMP_SET(omp_set_max_active_levels, levels, set_levels(levels))
QUERN_OMP_SET(omp_set_default_device, device, static_cast<void>(device))
#undef QUERN_OMP_SET

#define QUERN_OMP_OF_LEVEL(NAME, ARGUMENT, VALUE)                                 \
    QUERN_OMP_ENTRY int NAME(int ARGUMENT) { return VALUE; }                      \
    QUERN_OMP_ENTRY f_int NAME##_(const f_int* p) { return NAME(*p); }            \
    QUERN_OMP_ENTRY f_int NAME##_8_(const std::int64_t* p) {                      \
        return NAME(static_cast<int>(std::clamp<std::int64_t>(*p, -1, 1 << 30))); \
    }

namespace {

int number_at(int level) noexcept {
    const member* const at = member_at_level(level);
    return at != nullptr ? static_cast<int>(at->number) : -1;
}
int size_at(int level) noexcept {
    const member* const at = member_at_level(level);
    return at != nullptr ? static_cast<int>(at->of->size) : -1;
}

}  // namespace

QUERN_OMP_OF_LEVEL(omp_get_ancestor_thread_num, level, number_at(level))
QUERN_OMP_OF_LEVEL(omp_get_team_size, level, size_at(level))
#undef QUERN_OMP_OF_LEVEL

QUERN_OMP_ENTRY void omp_set_schedule(unsigned kind, int chunk) { set_schedule(kind, chunk); }
QUERN_OMP_ENTRY void omp_set_schedule_(const f_int* kind, const f_int* chunk) {
    set_schedule(static_cast<unsigned>(*kind), *chunk);
}
QUERN_OMP_ENTRY void omp_set_schedule_8_(const f_int* kind, const std::int64_t* chunk) {
    set_schedule(static_cast<unsigned>(*kind), static_cast<int>(*chunk));
}
QUERN_OMP_ENTRY void omp_get_schedule(f_int* kind, f_int* chunk) { get_schedule(kind, chunk); }
QUERN_OMP_ENTRY void omp_get_schedule_(f_int* kind, f_int* chunk) { get_schedule(kind, chunk); }
QUERN_OMP_ENTRY void omp_get_schedule_8_(f_int* kind, std::int64_t* chunk) {
    f_int narrow = 0;
    get_schedule(kind, &narrow);
    *chunk = narrow;
}

QUERN_OMP_ENTRY double omp_get_wtime() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return seconds(now);
}
QUERN_OMP_ENTRY double omp_get_wtick() {
    timespec step{};
    ::clock_getres(CLOCK_MONOTONIC, &step);
    return seconds(step);
}
QUERN_OMP_ENTRY double omp_get_wtime_() { return omp_get_wtime(); }
QUERN_OMP_ENTRY double omp_get_wtick_() { return omp_get_wtick(); }

// NOLINTEND(readability-identifier-naming)
