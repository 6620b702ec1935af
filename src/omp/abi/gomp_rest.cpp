// SPDX-License-Identifier: BSL-1.0
// gcc's entry points for cancellation, which is off, for teams, and for what is not implemented: a
// program that calls such a function ends with its name. Without an entry here a preloaded library
// would leave the call to libgomp, which knows nothing of the team.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/exported.hpp"
#include "core/settings.hpp"
#include "core/shares.hpp"
#include "core/team.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>

using namespace quern::omp;

// Cancellation is off, as it is by default: OMP_CANCELLATION=true is told to be unusable.
QUERN_OMP_ENTRY bool GOMP_cancel(int, bool) { return false; }
QUERN_OMP_ENTRY bool GOMP_cancellation_point(int) { return false; }
QUERN_OMP_ENTRY bool GOMP_barrier_cancel() {
    wait_at_barrier(this_member());
    return false;
}
QUERN_OMP_ENTRY bool GOMP_loop_end_cancel() {
    leave_share(this_member());
    return GOMP_barrier_cancel();
}
QUERN_OMP_ENTRY bool GOMP_sections_end_cancel() { return GOMP_loop_end_cancel(); }

// A league of one team, whatever is asked for.
QUERN_OMP_ENTRY void GOMP_teams_reg(void (*body)(void*), void* data, unsigned, unsigned, unsigned) {
    body(data);
}

QUERN_OMP_ENTRY void GOMP_warning(const char* text, std::size_t length) {
    std::fprintf(stderr, "quern: the program warns: %.*s\n", static_cast<int>(length), text);
}
QUERN_OMP_ENTRY void GOMP_error(const char* text, std::size_t length) {
    fatal("the program ends with an error: %.*s", static_cast<int>(length), text);
}

// The clause and the directive allocate.
extern "C" void* omp_aligned_alloc(std::size_t alignment, std::size_t size,
                                   std::uintptr_t allocator);
extern "C" void omp_free(void* memory, std::uintptr_t allocator);
QUERN_OMP_ENTRY void* GOMP_alloc(std::size_t alignment, std::size_t size,
                                 std::uintptr_t allocator) {
    return omp_aligned_alloc(alignment, size, allocator);
}
QUERN_OMP_ENTRY void GOMP_free(void* memory, std::uintptr_t allocator) {
    omp_free(memory, allocator);
}

#define QUERN_OMP_MISSING(NAME) \
    QUERN_OMP_ENTRY void NAME() { is_missing(#NAME); }

// Regions of objects that gcc before 4.9 has compiled.
QUERN_OMP_MISSING(GOMP_parallel_start)
QUERN_OMP_MISSING(GOMP_parallel_end)
QUERN_OMP_MISSING(GOMP_parallel_loop_static_start)
QUERN_OMP_MISSING(GOMP_parallel_loop_dynamic_start)
QUERN_OMP_MISSING(GOMP_parallel_loop_guided_start)
QUERN_OMP_MISSING(GOMP_parallel_loop_runtime_start)
QUERN_OMP_MISSING(GOMP_parallel_sections_start)
// Reductions of tasks, and what else begins a loop with memory of its own.
QUERN_OMP_MISSING(GOMP_parallel_reductions)
QUERN_OMP_MISSING(GOMP_loop_start)
QUERN_OMP_MISSING(GOMP_loop_ordered_start)
QUERN_OMP_MISSING(GOMP_loop_ull_start)
QUERN_OMP_MISSING(GOMP_loop_ull_ordered_start)
QUERN_OMP_MISSING(GOMP_sections2_start)
QUERN_OMP_MISSING(GOMP_scope_start)
QUERN_OMP_MISSING(GOMP_workshare_task_reduction_unregister)
QUERN_OMP_MISSING(GOMP_loop_doacross_start)
QUERN_OMP_MISSING(GOMP_loop_ull_doacross_start)
// Devices.
QUERN_OMP_MISSING(GOMP_target)
QUERN_OMP_MISSING(GOMP_target_ext)
QUERN_OMP_MISSING(GOMP_target_data)
QUERN_OMP_MISSING(GOMP_target_data_ext)
QUERN_OMP_MISSING(GOMP_target_end_data)
QUERN_OMP_MISSING(GOMP_target_update)
QUERN_OMP_MISSING(GOMP_target_update_ext)
QUERN_OMP_MISSING(GOMP_target_enter_exit_data)
QUERN_OMP_MISSING(GOMP_teams)
QUERN_OMP_MISSING(GOMP_teams4)
// Events.
QUERN_OMP_MISSING(omp_fulfill_event)
QUERN_OMP_MISSING(omp_fulfill_event_)
#undef QUERN_OMP_MISSING

// NOLINTEND(readability-identifier-naming)
