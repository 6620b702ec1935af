// SPDX-License-Identifier: BSL-1.0
// clang's entry points for taskloop: copies of a pattern task, each with a range of iterations.
// NOLINTBEGIN(readability-identifier-naming)
#include "abi/exported.hpp"
#include "abi/kmpc_tasks.hpp"
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

void create_copy(member& here, const pattern_loop& loop, std::uint64_t from,
                 std::uint64_t many) noexcept {
    kmpc_head& head = head_of(loop.pattern);
    kmpc_task* const made =
        allocate_task(here, head.flags, head.task_bytes, head.shared_bytes, loop.pattern->routine);
    void* const shared = made->shared;
    std::memcpy(bytes_of(made), bytes_of(loop.pattern), head.task_bytes + head.shared_bytes);
    made->shared = shared;
    const std::uint64_t start = loop.first + from * loop.step;
    const std::uint64_t last = loop.first + (from + many - 1) * loop.step;
    std::memcpy(bytes_of(made) + loop.first_at, &start, sizeof start);
    std::memcpy(bytes_of(made) + loop.last_at, &last, sizeof last);
    if (loop.copy != nullptr) {
        loop.copy(made, loop.pattern, from + many == loop.count ? 1 : 0);
    }
    if (loop.is_deferred) {
        add_task(here, made);
    } else {
        run_undeferred(here, made);
    }
}

std::uint64_t tasks_of_loop(const member& here, std::uint64_t count, std::int32_t by,
                            std::uint64_t wanted) noexcept {
    constexpr std::uint64_t k_tasks_of_each = 8;
    if (by == k_by_grainsize && wanted != 0) {
        return std::max<std::uint64_t>(1, count / wanted);
    }
    return std::min(count,
                    by == k_by_number && wanted != 0 ? wanted : here.of->size * k_tasks_of_each);
}

void create_copies(member& here, const pattern_loop& loop, std::int32_t by, std::uint64_t wanted,
                   bool is_strict) noexcept {
    std::uint64_t from = 0;
    if (is_strict && by == k_by_grainsize && wanted != 0) {
        while (from < loop.count) {
            const std::uint64_t many = std::min(wanted, loop.count - from);
            create_copy(here, loop, from, many);
            from += many;
        }
        return;
    }
    const std::uint64_t tasks = tasks_of_loop(here, loop.count, by, wanted);
    for (std::uint64_t i = 0; i < tasks; ++i) {
        const std::uint64_t many = loop.count / tasks + (i < loop.count % tasks ? 1 : 0);
        create_copy(here, loop, from, many);
        from += many;
    }
}

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
    task_group group;
    const bool told = tools::is_active();
    if (told) [[unlikely]] {
        tools::tell_taskloop(tools::k_begin, loop.count, nullptr);
    }
    if (has_group) {
        if (told) [[unlikely]] {
            tools::tell_sync(tools::sync::taskgroup, tools::k_begin, nullptr);
        }
        group.outer = here.current->group;
        here.current->group = &group;
    }
    create_copies(here, loop, by, wanted, is_strict);
    if (has_group) {
        here.current->group = group.outer;
        discard_task(here, pattern);
        tools::end_group([&] { wait_for_group(here, group); });
    } else {
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
