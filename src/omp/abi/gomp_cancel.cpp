// SPDX-License-Identifier: BSL-1.0
// gcc's entry points for cancellation.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/exported.hpp"
#include "core/cancellation.hpp"
#include "core/shares.hpp"
#include "tools/tools.hpp"

using namespace quern::omp;

namespace {

/// 1: a region, 2: a loop, 4: sections, 8: a taskgroup.
cancelled_part part_of_number(int number) noexcept {
    constexpr int k_work = 2 | 4;
    constexpr int k_group = 8;
    return (number & k_work) != 0    ? cancelled_part::work
           : (number & k_group) != 0 ? cancelled_part::group
                                     : cancelled_part::region;
}

}  // namespace

// Without its condition the construct is a cancellation point.
QUERN_OMP_ENTRY bool GOMP_cancel(int part, bool condition) {
    member& here = this_member();
    the_settings();
    const cancelled_part what = part_of_number(part);
    if (!condition) {
        return is_cancelled(here, what);
    }
    const bool leaves = cancel(here, what);
    if (leaves && tools::is_active()) [[unlikely]] {
        // gcc numbers loops 2 and sections 4, tools the other way.
        const int told = part == 2 ? 4 : part == 4 ? 2 : part;
        tools::tell_cancel(told, __builtin_return_address(0));
    }
    return leaves;
}
QUERN_OMP_ENTRY bool GOMP_cancellation_point(int part) {
    return is_cancelled(this_member(), part_of_number(part));
}
QUERN_OMP_ENTRY bool GOMP_barrier_cancel() {
    const tools::sync_scope told(tools::sync::barrier_explicit);
    return wait_at_cancellable_barrier(this_member());
}
QUERN_OMP_ENTRY bool GOMP_loop_end_cancel() {
    leave_share(this_member());
    return GOMP_barrier_cancel();
}
QUERN_OMP_ENTRY bool GOMP_sections_end_cancel() { return GOMP_loop_end_cancel(); }

// NOLINTEND(readability-identifier-naming)
