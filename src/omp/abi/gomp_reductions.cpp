// SPDX-License-Identifier: BSL-1.0
// gcc's entry points for constructs with memory of their own: reductions by tasks of loops,
// sections, scopes and regions, and conditional lastprivate.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/exported.hpp"
#include "abi/gomp_loops.hpp"
#include "core/shares.hpp"
#include "core/task_reductions.hpp"
#include "core/tasks.hpp"
#include "core/team.hpp"
#include "tools/tools.hpp"

#include <cstdint>

using namespace quern::omp;

namespace {

using ull = unsigned long long;

/// The schedule of a loop, as the compiled code numbers it: 0 is that of OMP_SCHEDULE.
chosen_schedule schedule_of_number(long number, std::uint64_t chunk, bool has_memory) noexcept {
    constexpr long k_keeps_order = 0x80000000;
    const bool keeps_order = has_memory || (number & k_keeps_order) != 0;
    switch (number & ~k_keeps_order) {
        case 0:
            return schedule_at_runtime(keeps_order);
        case 1:
            return {schedule_kind::fixed, chunk};
        case 2:
            return {schedule_kind::dynamic, chunk, keeps_order};
        case 3:
            return {schedule_kind::guided, chunk};
        default:
            return {schedule_kind::fixed, 0};
    }
}

void begin_loop(const first_share& loop, std::uintptr_t* reductions, void** memory) {
    enter_share_with_memory(this_member(), loop, reductions, memory);
}

/// Code with a static schedule asks for no chunks: it passes no places for them.
template <class T>
bool first_chunk(T* from, T* to) noexcept {
    return from == nullptr || next_values(from, to);
}
template <class T>
bool first_ordered_chunk(T* from, T* to) noexcept {
    return from == nullptr || next_ordered_values(from, to);
}

/// A region whose members reduce by tasks.
struct reducing_region {
    void (*body)(void*);
    void* data;
    task_group group;
    unsigned size;
};

void run_reducing(void* argument) {
    auto& region = *static_cast<reducing_region*>(argument);
    member& here = this_member();
    here.current->group = &region.group;
    if (here.number == 0) {
        region.size = here.of->size;
    }
    region.body(region.data);
}

}  // namespace

QUERN_OMP_ENTRY bool GOMP_loop_start(long first, long end, long step, long schedule, long chunk,
                                     long* from, long* to, std::uintptr_t* reductions,
                                     void** memory) {
    const chosen_schedule by = schedule_of_number(schedule, as_chunk(chunk), memory != nullptr);
    begin_loop(loop_of(first, end, step, by), reductions, memory);
    return first_chunk(from, to);
}
QUERN_OMP_ENTRY bool GOMP_loop_ull_start(bool up, ull first, ull end, ull step, long schedule,
                                         ull chunk, ull* from, ull* to, std::uintptr_t* reductions,
                                         void** memory) {
    const chosen_schedule by = schedule_of_number(schedule, chunk, memory != nullptr);
    begin_loop(loop_of(up, first, end, step, by), reductions, memory);
    return first_chunk(from, to);
}
QUERN_OMP_ENTRY bool GOMP_loop_ordered_start(long first, long end, long step, long schedule,
                                             long chunk, long* from, long* to,
                                             std::uintptr_t* reductions, void** memory) {
    const chosen_schedule by = schedule_of_number(schedule, as_chunk(chunk), true);
    begin_loop(loop_of(first, end, step, by), reductions, memory);
    return first_ordered_chunk(from, to);
}
QUERN_OMP_ENTRY bool GOMP_loop_ull_ordered_start(bool up, ull first, ull end, ull step,
                                                 long schedule, ull chunk, ull* from, ull* to,
                                                 std::uintptr_t* reductions, void** memory) {
    const chosen_schedule by = schedule_of_number(schedule, chunk, true);
    begin_loop(loop_of(up, first, end, step, by), reductions, memory);
    return first_ordered_chunk(from, to);
}

QUERN_OMP_ENTRY unsigned GOMP_sections2_start(unsigned count, std::uintptr_t* reductions,
                                              void** memory) {
    first_share sections;
    sections.count = count;
    begin_loop(sections, reductions, memory);
    return next_section(this_member());
}

QUERN_OMP_ENTRY void GOMP_scope_start(std::uintptr_t* reductions) {
    member& here = this_member();
    enter_share_with_memory(here, {}, reductions, nullptr);
    leave_share(here);  // no call tells the end of a scope
}

// The end of all these but regions: all members have added up their tasks' values.
QUERN_OMP_ENTRY void GOMP_workshare_task_reduction_unregister(bool is_cancelled) {
    member& here = this_member();
    task_group* const group = here.current->group;
    if (group == nullptr) {
        fatal("a reduction by tasks ends that has not begun");
    }
    std::uintptr_t* const reductions = group->described_reductions;
    wait_for_group(here, *group);
    here.current->group = group->outer;
    delete group;
    if (here.number == 0) {
        unregister_reductions(reductions);
    }
    if (!is_cancelled) {
        const tools::sync_scope told(tools::sync::barrier_workshare);
        wait_at_barrier(here);
    }
}

// Returns the number of members, whose values the caller adds up.
QUERN_OMP_ENTRY unsigned GOMP_parallel_reductions(void (*body)(void*), void* data, unsigned threads,
                                                  unsigned) {
    member& here = this_member();
    reducing_region region{body, data, {}, 1};
    auto* const reductions = *static_cast<std::uintptr_t**>(data);
    allocate_reductions(reductions, size_of_region(here, threads));
    region.group.described_reductions = reductions;
    run_region(run_reducing, &region, threads);
    return region.size;
}

// NOLINTEND(readability-identifier-naming)
