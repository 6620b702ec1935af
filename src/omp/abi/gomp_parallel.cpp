// SPDX-License-Identifier: BSL-1.0
// gcc's entry points for regions, barriers, single, sections, and critical regions.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/exported.hpp"
#include "core/events.hpp"
#include "core/locks.hpp"
#include "core/shares.hpp"
#include "core/team.hpp"
#include "tools/tools.hpp"

#include <cstdint>

using namespace quern::omp;

namespace {

quern::omp::word_lock g_critical;
quern::omp::word_lock g_atomic;

first_share sections_of(unsigned count) noexcept {
    first_share made;
    made.count = count;
    return made;
}

}  // namespace

QUERN_OMP_ENTRY void GOMP_parallel(void (*body)(void*), void* data, unsigned threads, unsigned) {
    run_region(body, data, threads);
    wait_for_lone_events(this_member());
}

QUERN_OMP_ENTRY void GOMP_parallel_sections(void (*body)(void*), void* data, unsigned threads,
                                            unsigned count, unsigned) {
    const first_share sections = sections_of(count);
    run_region(body, data, threads, &sections);
}

QUERN_OMP_ENTRY void GOMP_barrier() {
    member& here = this_member();
    const tools::sync_scope told(tools::sync::barrier_explicit);
    wait_for_lone_events(here);
    wait_at_barrier(here);
}

QUERN_OMP_ENTRY bool GOMP_single_start() {
    member& here = this_member();
    bool is_first = true;
    if (here.of->size != 1) {
        is_first = enter_share(here, {});
        leave_share(here);
    }
    if (tools::is_active()) [[unlikely]] {
        tools::tell_single(is_first, __builtin_return_address(0));
    }
    return is_first;
}

QUERN_OMP_ENTRY void* GOMP_single_copy_start() {
    member& here = this_member();
    const bool is_first = enter_share(here, {});
    if (tools::is_active()) [[unlikely]] {
        tools::tell_single(is_first, __builtin_return_address(0));
    }
    if (is_first) {
        return nullptr;
    }
    if (here.sharing == nullptr) {
        return nullptr;  // the region is cancelled
    }
    share& one = *here.sharing;
    const tools::sync_scope told(tools::sync::barrier_workshare);
    wait_at_barrier(here);
    void* const copied = one.copied;
    leave_share(here);
    return copied;
}

QUERN_OMP_ENTRY void GOMP_single_copy_end(void* data) {
    member& here = this_member();
    if (here.sharing == nullptr) {
        return;  // the region is cancelled
    }
    here.sharing->copied = data;
    const tools::sync_scope told(tools::sync::barrier_workshare);
    wait_at_barrier(here);
    leave_share(here);
}

QUERN_OMP_ENTRY unsigned GOMP_sections_start(unsigned count) {
    member& here = this_member();
    enter_share(here, sections_of(count));
    tools::work_begins(tools::construct::sections, count, __builtin_return_address(0));
    return next_section(here);
}

QUERN_OMP_ENTRY unsigned GOMP_sections_next() { return next_section(this_member()); }

QUERN_OMP_ENTRY void GOMP_sections_end() {
    member& here = this_member();
    leave_share(here);
    const tools::sync_scope told(tools::sync::barrier_workshare);
    wait_at_barrier(here);
}

QUERN_OMP_ENTRY void GOMP_sections_end_nowait() {
    leave_share(this_member());
    tools::work_ends(__builtin_return_address(0));
}

QUERN_OMP_ENTRY void GOMP_critical_start() {
    tools::acquire(tools::mutex::critical, &g_critical, __builtin_return_address(0),
                   [] { g_critical.lock(k_critical_wait); });
}
QUERN_OMP_ENTRY void GOMP_critical_end() {
    tools::release(tools::mutex::critical, &g_critical, __builtin_return_address(0),
                   [] { g_critical.unlock(); });
}

// The program has a pointer, null at first, for each name. Its first half is the lock.
QUERN_OMP_ENTRY void GOMP_critical_name_start(void** place) {
    tools::acquire(tools::mutex::critical, place, __builtin_return_address(0),
                   [place] { reinterpret_cast<word_lock*>(place)->lock(k_critical_wait); });
}
QUERN_OMP_ENTRY void GOMP_critical_name_end(void** place) {
    tools::release(tools::mutex::critical, place, __builtin_return_address(0),
                   [place] { reinterpret_cast<word_lock*>(place)->unlock(); });
}

QUERN_OMP_ENTRY void GOMP_atomic_start() {
    tools::acquire(tools::mutex::atomic, &g_atomic, __builtin_return_address(0),
                   [] { g_atomic.lock(); });
}
QUERN_OMP_ENTRY void GOMP_atomic_end() {
    tools::release(tools::mutex::atomic, &g_atomic, __builtin_return_address(0),
                   [] { g_atomic.unlock(); });
}

// NOLINTEND(readability-identifier-naming)
