// SPDX-License-Identifier: BSL-1.0
// gcc's entry points for tasks.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/exported.hpp"
#include "abi/gomp_detach.hpp"
#include "core/accesses.hpp"
#include "core/cancellation.hpp"
#include "core/events.hpp"
#include "core/stacks.hpp"
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

/// Makes a task of `many` iterations from `from` on: their bounds are the first two words of its
/// data.
void create_piece(member& here, const task_loop& loop, std::uint64_t from,
                  std::uint64_t many) noexcept {
    const std::uint64_t bounds[2] = {loop.first + from * loop.step,
                                     loop.first + (from + many) * loop.step};
    const task_request& what = loop.each;
    if (runs_at_once(here) || !what.is_deferred || has_enough_ready(here)) {
        const std::size_t alignment = std::max<std::size_t>(what.alignment, 16);
        void* const room = __builtin_alloca(what.size + alignment);
        const auto at = (reinterpret_cast<std::uintptr_t>(room) + alignment - 1) &
                        ~(std::uintptr_t{alignment} - 1);
        auto* const data = reinterpret_cast<void*>(at);
        if (what.copy != nullptr) {
            what.copy(data, what.argument);
        } else {
            std::memcpy(data, what.argument, what.size);
        }
        std::memcpy(data, bounds, sizeof bounds);
        run_included(here, what.body, data, what.is_final);
        return;
    }
    deferred_task* const made = prepare_deferred(here, what.size, what.alignment);
    fill_deferred(*made, what);
    std::memcpy(made->argument, bounds, sizeof bounds);
    add_deferred(here, *made);
}

/// How many tasks a loop is divided into.
std::uint64_t tasks_of(const member& here, const task_loop& loop, std::uint64_t wanted) noexcept {
    const std::uint64_t count = loop.count;
    if (wanted == 0) {
        return std::min<std::uint64_t>(count, std::uint64_t{here.of->size} * 8);
    }
    if ((loop.flags & k_grainsize) != 0) {
        return std::max<std::uint64_t>(1, count / wanted);
    }
    return std::min(count, wanted);
}

void create_pieces(member& here, const task_loop& loop, std::uint64_t wanted) noexcept {
    if ((loop.flags & k_grainsize) != 0 && (loop.flags & k_strict) != 0 && wanted != 0) {
        for (std::uint64_t from = 0; from < loop.count;) {
            const std::uint64_t many = std::min(wanted, loop.count - from);
            create_piece(here, loop, from, many);
            from += many;
        }
        return;
    }
    const std::uint64_t tasks = tasks_of(here, loop, wanted);
    const std::uint64_t each = loop.count / tasks;
    const std::uint64_t larger = loop.count % tasks;
    std::uint64_t from = 0;
    for (std::uint64_t i = 0; i < tasks; ++i) {
        const std::uint64_t many = each + (i < larger ? 1 : 0);
        create_piece(here, loop, from, many);
        from += many;
    }
}

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

void run_pieces(member& here, const task_loop& loop, std::uint64_t wanted) noexcept {
    const bool makes_none = loop.count == 0 || discards_new_tasks(here);
    if ((loop.flags & k_nogroup) != 0) {
        if (!makes_none) {
            create_pieces(here, loop, wanted);
        }
        return;
    }
    // Also without a task: the compiled code ends the group's reductions.
    task_group group;
    begin_group(here, group);
    if ((loop.flags & k_reduction) != 0) {
        register_reductions(here, static_cast<std::uintptr_t**>(loop.each.argument)[2]);
    }
    if (!makes_none) {
        create_pieces(here, loop, wanted);
    }
    end_group(here, group);
}

void run_task_loop(const task_loop& loop, std::uint64_t wanted) noexcept {
    member& here = this_member();
    const bool told = tools::is_active();
    if (told) [[unlikely]] {
        tools::tell_taskloop(tools::k_begin, loop.count, nullptr);
    }
    run_pieces(here, loop, wanted);
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
