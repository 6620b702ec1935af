// SPDX-License-Identifier: BSL-1.0
// clang's entry points for taskloop: copies of a pattern task, each with a range of iterations.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/exported.hpp"
#include "abi/kmpc_tasks.hpp"
#include "core/task_loops.hpp"
#include "tools/tools.hpp"

#include <algorithm>
#include <cstring>

using namespace quern::omp;

namespace {

using copy_task = void (*)(kmpc_task* into, kmpc_task* from, std::int32_t is_last);

enum : std::int32_t { k_by_grainsize = 1, k_by_number = 2 };

struct pattern_loop {
    kmpc_task* pattern;
    bool is_deferred;
    std::uint64_t first;
    std::uint64_t step;
    std::uint64_t count;
    std::ptrdiff_t first_at;  ///< where the bounds lie in the task
    std::ptrdiff_t last_at;
    copy_task copy;
};

std::byte* bytes_of(kmpc_task* one) noexcept { return reinterpret_cast<std::byte*>(one); }

/// The pattern's data with the bounds of a task's iterations. `into` has its own `shared`.
void copy_pattern(const pattern_loop& loop, kmpc_task* into, iterations which) noexcept {
    const kmpc_head& head = head_of(loop.pattern);
    void* const shared = into->shared;
    std::memcpy(bytes_of(into), bytes_of(loop.pattern), head.task_bytes + head.shared_bytes);
    into->shared = shared;
    const std::uint64_t start = loop.first + which.from * loop.step;
    const std::uint64_t last = loop.first + (which.from + which.count - 1) * loop.step;
    std::memcpy(bytes_of(into) + loop.first_at, &start, sizeof start);
    std::memcpy(bytes_of(into) + loop.last_at, &last, sizeof last);
    if (loop.copy != nullptr) {
        loop.copy(into, loop.pattern, which.from + which.count == loop.count ? 1 : 0);
    }
}

void create_copy(member& here, const pattern_loop& loop, iterations which) noexcept {
    const kmpc_head& head = head_of(loop.pattern);
    kmpc_task* const made =
        allocate_task(here, head.flags, head.task_bytes, head.shared_bytes, loop.pattern->routine);
    copy_pattern(loop, made, which);
    if (loop.is_deferred) {
        add_task(here, made);
    } else {
        run_undeferred(here, made);
    }
}

void create_copies(member& here, const pattern_loop& loop, const loop_division& by) noexcept {
    for (std::uint64_t i = 0; i < by.tasks(); ++i) {
        create_copy(here, loop, by.of(i));
    }
}

/// The tasks of a loop in a group of its own.
struct kmpc_loop_tasks final : loop_tasks {
    kmpc_loop_tasks(const pattern_loop& of, const loop_division& by) noexcept
        : loop_tasks{by, head_of(of.pattern).bytes(), alignof(kmpc_head), run_task_of_head,
                     make_one},
          loop(of) {}

    static void make_one(const loop_tasks& self, deferred_task& into, iterations which) noexcept {
        const pattern_loop& of = static_cast<const kmpc_loop_tasks&>(self).loop;
        copy_pattern(of, begin_task_in(into, head_of(of.pattern)), which);
    }

    const pattern_loop& loop;
};

/// Both bounds belong to the loop. The compiled code counts from 0 in steps of one mostly.
std::uint64_t count_iterations(std::uint64_t first, std::uint64_t last,
                               std::int64_t step) noexcept {
    if (step == 1) {
        return last - first + 1;
    }
    if (step > 0) {
        return last < first ? 0 : (last - first) / static_cast<std::uint64_t>(step) + 1;
    }
    return first < last
               ? 0
               : (first - last) / (std::uint64_t{0} - static_cast<std::uint64_t>(step)) + 1;
}

task_grain grain_of(std::int32_t by) noexcept {
    return by == k_by_grainsize ? task_grain::iterations
           : by == k_by_number  ? task_grain::tasks
                                : task_grain::chosen;
}

/// The pattern is needed until all tasks have been made.
void run_in_group(member& here, const pattern_loop& loop, const loop_division& by) noexcept {
    task_group group;
    if (tools::is_active()) [[unlikely]] {
        tools::tell_sync(tools::sync::taskgroup, tools::k_begin, nullptr);
    }
    group.outer = here.current->group;
    here.current->group = &group;
    const auto end_group = [&] {
        here.current->group = group.outer;
        tools::end_group([&] { wait_for_group(here, group); });
        discard_task(here, loop.pattern);
    };
    const bool is_final = (head_of(loop.pattern).flags & k_task_is_final) != 0;
    // Copy constructors of the program are called by the creator alone.
    const bool is_by_creator = !loop.is_deferred || is_final || loop.copy != nullptr;
    if (is_by_creator || !shared_task_loop::suits(here, by)) {
        create_copies(here, loop, by);
        end_group();
        return;
    }
    const kmpc_loop_tasks tasks(loop, by);
    shared_task_loop shared(here, tasks);
    shared.run(here);
    end_group();
}

void run_pattern(kmpc_task* pattern, bool is_deferred, const std::uint64_t* first,
                 const std::uint64_t* last, std::int64_t step, bool has_group, std::int32_t by,
                 std::uint64_t wanted, bool is_strict, copy_task copy) noexcept {
    member& here = this_member();
    const auto offset = [pattern](const std::uint64_t* at) {
        return reinterpret_cast<const std::byte*>(at) - bytes_of(pattern);
    };
    const pattern_loop loop{pattern,
                            is_deferred,
                            *first,
                            static_cast<std::uint64_t>(step),
                            count_iterations(*first, *last, step),
                            offset(first),
                            offset(last),
                            copy};
    const bool told = tools::is_active();
    if (told) [[unlikely]] {
        tools::tell_taskloop(tools::k_begin, loop.count, nullptr);
    }
    const loop_division division(here.of->size, loop.count, grain_of(by), wanted, is_strict);
    if (has_group) {
        run_in_group(here, loop, division);
    } else {
        create_copies(here, loop, division);
        discard_task(here, pattern);
    }
    if (told) [[unlikely]] {
        tools::tell_taskloop(tools::k_end, loop.count, nullptr);
    }
}

}  // namespace

QUERN_OMP_ENTRY void __kmpc_taskloop(kmpc_place*, std::int32_t, kmpc_task* pattern,
                                     std::int32_t condition, std::uint64_t* first,
                                     std::uint64_t* last, std::int64_t step, std::int32_t nogroup,
                                     std::int32_t by, std::uint64_t wanted, copy_task copy) {
    run_pattern(pattern, condition != 0, first, last, step, nogroup == 0, by, wanted, false, copy);
}
QUERN_OMP_ENTRY void __kmpc_taskloop_5(kmpc_place*, std::int32_t, kmpc_task* pattern,
                                       std::int32_t condition, std::uint64_t* first,
                                       std::uint64_t* last, std::int64_t step, std::int32_t nogroup,
                                       std::int32_t by, std::uint64_t wanted, std::int32_t modifier,
                                       copy_task copy) {
    run_pattern(pattern, condition != 0, first, last, step, nogroup == 0, by, wanted, modifier != 0,
                copy);
}

// A region for a device that its creator does not wait for: the host runs it.
QUERN_OMP_ENTRY kmpc_task* __kmpc_omp_target_task_alloc(kmpc_place*, std::int32_t,
                                                        std::int32_t flags, std::size_t task_bytes,
                                                        std::size_t shared_bytes,
                                                        kmpc_routine routine, std::int64_t) {
    return allocate_task(this_member(), flags, task_bytes, shared_bytes, routine);
}

// Where tasks are to run: a hint.
QUERN_OMP_ENTRY std::int32_t __kmpc_omp_reg_task_with_affinity(kmpc_place*, std::int32_t,
                                                               kmpc_task*, std::int32_t, void*) {
    return 0;
}

// NOLINTEND(readability-identifier-naming)
