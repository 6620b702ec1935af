// SPDX-License-Identifier: BSL-1.0
// gcc's entry points for tasks.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/exported.hpp"
#include "abi/gomp_detach.hpp"
#include "core/accesses.hpp"
#include "core/cancellation.hpp"
#include "core/events.hpp"
#include "core/stacks.hpp"
#include "core/task_loops.hpp"
#include "core/task_reductions.hpp"
#include "core/tasks.hpp"
#include "core/team.hpp"
#include "core/waiting.hpp"
#include "tools/tools.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

using namespace quern::omp;

namespace {

/// Bits of `flags`.
constexpr unsigned k_final = 2;
constexpr unsigned k_depend = 8;
constexpr unsigned k_detach = 8192;
constexpr unsigned k_up = 256;
constexpr unsigned k_grainsize = 512;
constexpr unsigned k_if = 1024;
constexpr unsigned k_nogroup = 2048;
constexpr unsigned k_reduction = 4096;
constexpr unsigned k_strict = 16384;

struct task_loop {
    task_request each;
    unsigned flags;
    std::uint64_t first;
    std::uint64_t step;
    std::uint64_t count;
};

/// The bounds of a task's iterations are the first two words of its data.
void set_bounds(const task_loop& loop, iterations which, void* data) noexcept {
    const std::uint64_t bounds[2] = {loop.first + which.from * loop.step,
                                     loop.first + (which.from + which.count) * loop.step};
    std::memcpy(data, bounds, sizeof bounds);
}

void copy_data(const task_request& what, void* data) noexcept {
    if (what.copy != nullptr) {
        what.copy(data, what.argument);
    } else {
        std::memcpy(data, what.argument, what.size);
    }
}

/// Makes a task, or runs it at once.
void create_task(member& here, const task_loop& loop, iterations which) noexcept {
    const task_request& what = loop.each;
    if (runs_at_once(here) || !what.is_deferred || has_enough_ready(here)) {
        const std::size_t alignment = std::max<std::size_t>(what.alignment, 16);
        void* const room = __builtin_alloca(what.size + alignment);
        const auto at = (reinterpret_cast<std::uintptr_t>(room) + alignment - 1) &
                        ~(std::uintptr_t{alignment} - 1);
        auto* const data = reinterpret_cast<void*>(at);
        copy_data(what, data);
        set_bounds(loop, which, data);
        run_included(here, what.body, data, what.is_final);
        return;
    }
    deferred_task* const made = prepare_deferred(here, what.size, what.alignment);
    fill_deferred(*made, what);
    set_bounds(loop, which, made->argument);
    add_deferred(here, *made);
}

loop_division division_of(const member& here, const task_loop& loop,
                          std::uint64_t wanted) noexcept {
    const bool by_grain = (loop.flags & k_grainsize) != 0;
    return {here.of->size, loop.count, by_grain ? task_grain::iterations : task_grain::tasks,
            wanted, (loop.flags & k_strict) != 0};
}

void create_tasks(member& here, const task_loop& loop, const loop_division& by) noexcept {
    for (std::uint64_t i = 0; i < by.tasks(); ++i) {
        create_task(here, loop, by.of(i));
    }
}

/// The tasks of a loop in a group of its own.
struct gomp_loop_tasks final : loop_tasks {
    gomp_loop_tasks(const task_loop& of, const loop_division& by) noexcept
        : loop_tasks{by, of.each.size, of.each.alignment, of.each.body, make_one}, loop(of) {}

    static void make_one(const loop_tasks& self, deferred_task& into, iterations which) noexcept {
        const task_loop& of = static_cast<const gomp_loop_tasks&>(self).loop;
        std::memcpy(into.argument, of.each.argument, of.each.size);
        set_bounds(of, which, into.argument);
    }

    const task_loop& loop;
};

void begin_group(member& here, task_group& group) noexcept {
    group.outer = here.current->group;
    group.described_reductions =
        group.outer != nullptr ? group.outer->described_reductions : nullptr;
    here.current->group = &group;
    if (tools::is_active()) [[unlikely]] {
        tools::tell_sync(tools::sync::taskgroup, tools::k_begin, nullptr);
    }
}

void end_group(member& here, task_group& group) noexcept {
    tools::end_group([&] {
        wait_for_lone_events(here);
        wait_for_group(here, group);
    });
    here.current->group = group.outer;
}

/// The compiled code ends the group's reductions also where there is no task.
void run_in_group(member& here, const task_loop& loop, std::uint64_t wanted) noexcept {
    const bool makes_none = loop.count == 0 || discards_new_tasks(here);
    task_group group;
    begin_group(here, group);
    if ((loop.flags & k_reduction) != 0) {
        register_reductions(here, static_cast<std::uintptr_t**>(loop.each.argument)[2]);
    }
    if (makes_none) {
        end_group(here, group);
        return;
    }
    const loop_division by = division_of(here, loop, wanted);
    // Copy constructors of the program are called by the creator alone.
    const bool is_by_creator =
        !loop.each.is_deferred || loop.each.is_final || loop.each.copy != nullptr;
    if (is_by_creator || !shared_task_loop::suits(here, by)) {
        create_tasks(here, loop, by);
        end_group(here, group);
        return;
    }
    const gomp_loop_tasks tasks(loop, by);
    shared_task_loop shared(here, tasks);
    shared.run(here);
    end_group(here, group);
}

void run_tasks(member& here, const task_loop& loop, std::uint64_t wanted) noexcept {
    if ((loop.flags & k_nogroup) == 0) {
        run_in_group(here, loop, wanted);
    } else if (loop.count != 0 && !discards_new_tasks(here)) {
        create_tasks(here, loop, division_of(here, loop, wanted));
    }
}

void run_task_loop(const task_loop& loop, std::uint64_t wanted) noexcept {
    member& here = this_member();
    const bool told = tools::is_active();
    if (told) [[unlikely]] {
        tools::tell_taskloop(tools::k_begin, loop.count, nullptr);
    }
    run_tasks(here, loop, wanted);
    if (told) [[unlikely]] {
        tools::tell_taskloop(tools::k_end, loop.count, nullptr);
    }
}

task_loop describe(void (*body)(void*), void* data, void (*copy)(void*, void*), long size,
                   long alignment, unsigned flags) noexcept {
    task_loop made{};
    made.each.body = body;
    made.each.argument = data;
    made.each.copy = copy;
    made.each.size = static_cast<std::size_t>(size);
    made.each.alignment = static_cast<std::size_t>(alignment);
    made.each.is_deferred = (flags & k_if) != 0;
    made.each.is_final = (flags & k_final) != 0;
    made.flags = flags;
    return made;
}

}  // namespace

QUERN_OMP_ENTRY void GOMP_task(void (*body)(void*), void* data, void (*copy)(void*, void*),
                               long size, long alignment, bool is_deferred, unsigned flags,
                               void** depend, int, void* detach) {
    task_request what;
    what.body = body;
    what.argument = data;
    what.copy = copy;
    what.size = static_cast<std::size_t>(size);
    what.alignment = static_cast<std::size_t>(alignment);
    what.is_deferred = is_deferred;
    what.is_final = (flags & k_final) != 0;
    what.dependences = (flags & k_depend) != 0 ? depend : nullptr;
    member& here = this_member();
    if (discards_new_tasks(here)) {
        return;
    }
    if (what.dependences != nullptr) {
        wait_for_lone_events(here);
    }
    if ((flags & k_detach) != 0) [[unlikely]] {
        create_detachable_task(here, what, static_cast<void**>(detach));
    } else {
        create_task(here, what);
    }
}

QUERN_OMP_ENTRY void GOMP_taskwait() {
    member& here = this_member();
    const tools::sync_scope told(tools::sync::taskwait);
    wait_for_lone_events(here);
    wait_for_children(here);
}

QUERN_OMP_ENTRY void GOMP_taskwait_depend(void** depend) {
    member& here = this_member();
    const tools::sync_scope told(tools::sync::taskwait);
    wait_for_lone_events(here);
    if (!runs_at_once(here)) {
        wait_for_accesses(here, depend);
    }
}

QUERN_OMP_ENTRY void GOMP_taskyield() {
    member& here = this_member();
    if (here.stacks != nullptr) [[unlikely]] {
        yield_with_stacks(here);
    } else if (here.at != nullptr) {
        run_some_task(here, eligible::descendants);
    }
}

QUERN_OMP_ENTRY void GOMP_taskgroup_start() { begin_group(this_member(), *new task_group); }

QUERN_OMP_ENTRY void GOMP_taskgroup_end() {
    member& here = this_member();
    task_group* const group = here.current->group;
    if (group == nullptr) {
        fatal("GOMP_taskgroup_end without a taskgroup");
    }
    end_group(here, *group);
    delete group;
}

QUERN_OMP_ENTRY void GOMP_taskgroup_reduction_register(std::uintptr_t* descriptor) {
    register_reductions(this_member(), descriptor);
}
QUERN_OMP_ENTRY void GOMP_taskgroup_reduction_unregister(std::uintptr_t* descriptor) {
    unregister_reductions(descriptor);
}
QUERN_OMP_ENTRY void GOMP_task_reduction_remap(std::size_t count, std::size_t originals,
                                               void** addresses) {
    remap_reductions(this_member(), count, originals, addresses);
}

QUERN_OMP_ENTRY void GOMP_taskloop(void (*body)(void*), void* data, void (*copy)(void*, void*),
                                   long size, long alignment, unsigned flags,
                                   unsigned long num_tasks, int, long start, long end, long step) {
    task_loop loop = describe(body, data, copy, size, alignment, flags);
    const bool up = step > 0;
    loop.first = static_cast<std::uint64_t>(start);
    loop.step = static_cast<std::uint64_t>(step);
    if (up ? start < end : start > end) {
        const auto last = static_cast<std::uint64_t>(end);
        const std::uint64_t length = up ? last - loop.first : loop.first - last;
        loop.count = (length - 1) / (up ? loop.step : 0 - loop.step) + 1;
    }
    run_task_loop(loop, num_tasks);
}

QUERN_OMP_ENTRY void GOMP_taskloop_ull(void (*body)(void*), void* data, void (*copy)(void*, void*),
                                       long size, long alignment, unsigned flags,
                                       unsigned long num_tasks, int, unsigned long long start,
                                       unsigned long long end, unsigned long long step) {
    task_loop loop = describe(body, data, copy, size, alignment, flags);
    const bool up = (flags & k_up) != 0;
    loop.first = start;
    loop.step = step;
    if (up ? start < end : start > end) {
        const std::uint64_t length = up ? end - start : start - end;
        loop.count = (length - 1) / (up ? step : 0 - step) + 1;
    }
    run_task_loop(loop, num_tasks);
}

// NOLINTEND(readability-identifier-naming)
