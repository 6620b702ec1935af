// SPDX-License-Identifier: BSL-1.0
// Regions, loops, tasks and reductions through the entry points that clang's compiled code calls.
#include "abi/kmpc.hpp"
#include "unit/omp/entry_points.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <thread>
#include <vector>

using quern::omp::kmpc_dependence;
using quern::omp::kmpc_name;
using quern::omp::kmpc_place;
using quern::omp::kmpc_reduction;
using quern::omp::kmpc_routine;
using quern::omp::kmpc_task;

// NOLINTBEGIN(readability-identifier-naming,bugprone-reserved-identifier)
extern "C" {
void __kmpc_push_num_threads(kmpc_place*, std::int32_t, std::int32_t threads);
void __kmpc_fork_call(kmpc_place*, std::int32_t count, void (*body)(), ...);
void __kmpc_serialized_parallel(kmpc_place*, std::int32_t);
void __kmpc_end_serialized_parallel(kmpc_place*, std::int32_t);
void __kmpc_barrier(kmpc_place*, std::int32_t);
std::int32_t __kmpc_single(kmpc_place*, std::int32_t);
void __kmpc_end_single(kmpc_place*, std::int32_t);
std::int32_t __kmpc_master(kmpc_place*, std::int32_t);
void __kmpc_end_master(kmpc_place*, std::int32_t);
void __kmpc_critical(kmpc_place*, std::int32_t, kmpc_name* name);
void __kmpc_end_critical(kmpc_place*, std::int32_t, kmpc_name* name);
void __kmpc_copyprivate(kmpc_place*, std::int32_t, std::size_t, void* data,
                        void (*copy)(void*, void*), std::int32_t has_it);
void __kmpc_for_static_init_8(kmpc_place*, std::int32_t, std::int32_t schedule,
                              std::int32_t* is_last, std::int64_t* first, std::int64_t* last,
                              std::int64_t* stride, std::int64_t step, std::int64_t chunk);
void __kmpc_for_static_fini(kmpc_place*, std::int32_t);
void __kmpc_dispatch_init_8(kmpc_place*, std::int32_t, std::int32_t schedule, std::int64_t first,
                            std::int64_t last, std::int64_t step, std::int64_t chunk);
std::int32_t __kmpc_dispatch_next_8(kmpc_place*, std::int32_t, std::int32_t* is_last,
                                    std::int64_t* first, std::int64_t* last, std::int64_t* step);
kmpc_task* __kmpc_omp_task_alloc(kmpc_place*, std::int32_t, std::int32_t flags,
                                 std::size_t task_bytes, std::size_t shared_bytes,
                                 kmpc_routine routine);
std::int32_t __kmpc_omp_task(kmpc_place*, std::int32_t, kmpc_task* made);
std::int32_t __kmpc_omp_task_with_deps(kmpc_place*, std::int32_t, kmpc_task* made,
                                       std::int32_t count, const kmpc_dependence* first,
                                       std::int32_t more, const kmpc_dependence* second);
void __kmpc_omp_task_begin_if0(kmpc_place*, std::int32_t, kmpc_task* made);
void __kmpc_omp_task_complete_if0(kmpc_place*, std::int32_t, kmpc_task* made);
std::int32_t __kmpc_omp_taskwait(kmpc_place*, std::int32_t);
void* __kmpc_task_allow_completion_event(kmpc_place*, std::int32_t, kmpc_task* made);
void quern_omp_fulfill_event(void* event);  // omp_fulfill_event of clang's programs
void __kmpc_taskgroup(kmpc_place*, std::int32_t);
void __kmpc_end_taskgroup(kmpc_place*, std::int32_t);
void* __kmpc_taskred_init(std::int32_t, std::int32_t count, const kmpc_reduction* variables);
void* __kmpc_task_reduction_get_th_data(std::int32_t, void* from, void* address);
}
// NOLINTEND(readability-identifier-naming,bugprone-reserved-identifier)

namespace {

using namespace quern_test::openmp;

constexpr std::int32_t k_tied_task = 1;
constexpr std::int32_t k_detachable_task = 0x40;
constexpr std::int32_t k_static_loop = 34;
constexpr std::int32_t k_static_loop_with_chunk = 33;
constexpr std::int32_t k_dynamic_loop = 35;
constexpr std::int32_t k_guided_loop = 36;
kmpc_place g_place{};

/// A region as clang's code begins it.
template <class Body>
void clang_region(unsigned members, Body&& body) {
    using plain = std::remove_reference_t<Body>;
    const auto outlined = [](const std::int32_t*, const std::int32_t*, plain* own) { (*own)(); };
    void (*const entry)(const std::int32_t*, const std::int32_t*, plain*) = outlined;
    __kmpc_push_num_threads(&g_place, 0, static_cast<std::int32_t>(members));
    __kmpc_fork_call(&g_place, 1, reinterpret_cast<void (*)()>(entry), &body);
}

template <class Body>
std::int32_t run_routine(std::int32_t, kmpc_task* task) {
    Body& own = *static_cast<Body*>(task->shared);
    own();
    own.~Body();
    return 0;
}

template <class Body>
kmpc_task* allocate(Body body, std::int32_t flags = k_tied_task) {
    kmpc_task* const made = __kmpc_omp_task_alloc(&g_place, 0, flags, sizeof(kmpc_task),
                                                  sizeof(Body), run_routine<Body>);
    ::new (made->shared) Body(std::move(body));
    return made;
}

class openmp_clang : public with_members {};
QUERN_WITH_1_2_8_MEMBERS(openmp_clang);

TEST_P(openmp_clang, members_meet_at_barriers_and_in_critical_regions) {
    static kmpc_name name{};
    int sum = 0;
    int singles = 0;
    int masters = 0;
    clang_region(members(), [&] {
        for (int round = 1; round <= 20; ++round) {
            __kmpc_critical(&g_place, 0, &name);
            sum += 1;
            __kmpc_end_critical(&g_place, 0, &name);
            int own = 0;
            std::int32_t has_it = 0;
            if (__kmpc_single(&g_place, 0) != 0) {
                singles += 1;
                own = round;
                has_it = 1;
                __kmpc_end_single(&g_place, 0);
            }
            __kmpc_copyprivate(
                &g_place, 0, sizeof own, &own,
                [](void* into, void* from) { *static_cast<int*>(into) = *static_cast<int*>(from); },
                has_it);
            EXPECT_EQ(own, round);
            if (__kmpc_master(&g_place, 0) != 0) {
                masters += 1;
                __kmpc_end_master(&g_place, 0);
            }
            __kmpc_barrier(&g_place, 0);
            EXPECT_EQ(sum, round * omp_get_num_threads());
            __kmpc_barrier(&g_place, 0);
        }
    });
    EXPECT_EQ(singles, 20);
    EXPECT_EQ(masters, 20);
}

TEST_P(openmp_clang, each_iteration_runs_once) {
    std::vector<int> runs(600, 0);
    clang_region(members(), [&runs] {
        std::int32_t is_last = 0;
        for (const std::int32_t schedule : {k_static_loop, k_static_loop_with_chunk}) {
            std::int64_t first = 0;
            std::int64_t last = 599;
            std::int64_t stride = 1;
            __kmpc_for_static_init_8(&g_place, 0, schedule, &is_last, &first, &last, &stride, 1,
                                     schedule == k_static_loop ? 0 : 7);
            const std::int64_t length = last - first;
            for (std::int64_t from = first; from <= 599; from += stride) {
                for (std::int64_t i = from; i <= std::min<std::int64_t>(from + length, 599); ++i) {
                    runs[static_cast<std::size_t>(i)] += 1;
                }
                if (schedule == k_static_loop) {
                    break;
                }
            }
            __kmpc_for_static_fini(&g_place, 0);
            __kmpc_barrier(&g_place, 0);
        }
        for (const std::int32_t schedule : {k_dynamic_loop, k_guided_loop}) {
            std::int64_t first = 0;
            std::int64_t last = 0;
            std::int64_t step = 0;
            __kmpc_dispatch_init_8(&g_place, 0, schedule, 0, 599, 1, 3);
            while (__kmpc_dispatch_next_8(&g_place, 0, &is_last, &first, &last, &step) != 0) {
                for (std::int64_t i = first; i <= last; i += step) {
                    runs[static_cast<std::size_t>(i)] += 1;
                }
            }
            __kmpc_barrier(&g_place, 0);
        }
    });
    EXPECT_EQ(runs, std::vector<int>(600, 4));
}

TEST_P(openmp_clang, tasks_follow_those_they_depend_on) {
    std::uint64_t value = 0;
    long undeferred = 0;
    clang_region(members(), [&] {
        if (__kmpc_single(&g_place, 0) != 0) {
            for (int i = 0; i < 50; ++i) {
                const kmpc_dependence on{reinterpret_cast<std::intptr_t>(&value), sizeof value, 3};
                kmpc_task* const made = allocate([&value] { value = value * 3 + 1; });
                __kmpc_omp_task_with_deps(&g_place, 0, made, 1, &on, 0, nullptr);
                kmpc_task* const now = allocate([&undeferred] { undeferred += 1; });
                __kmpc_omp_task_begin_if0(&g_place, 0, now);
                now->routine(0, now);
                __kmpc_omp_task_complete_if0(&g_place, 0, now);
            }
            __kmpc_omp_taskwait(&g_place, 0);
            __kmpc_end_single(&g_place, 0);
        }
        __kmpc_barrier(&g_place, 0);
    });
    std::uint64_t expected = 0;
    for (int i = 0; i < 50; ++i) {
        expected = expected * 3 + 1;
    }
    EXPECT_EQ(undeferred, 50);
    EXPECT_EQ(value, expected);
}

TEST_P(openmp_clang, a_foreign_thread_fulfills_events) {
    std::atomic<int> bodies{0};
    std::array<std::atomic<void*>, 40> events{};
    std::thread another([&events] {
        for (std::atomic<void*>& each : events) {
            while (each.load() == nullptr) {
                std::this_thread::yield();
            }
            quern_omp_fulfill_event(each.load());
        }
    });
    clang_region(members(), [&] {
        if (__kmpc_single(&g_place, 0) != 0) {
            for (std::atomic<void*>& each : events) {
                kmpc_task* const made =
                    allocate([&bodies] { bodies += 1; }, k_tied_task | k_detachable_task);
                void* const event = __kmpc_task_allow_completion_event(&g_place, 0, made);
                each = event;
                __kmpc_omp_task(&g_place, 0, made);
            }
            __kmpc_omp_taskwait(&g_place, 0);
            EXPECT_EQ(bodies, 40);
            __kmpc_end_single(&g_place, 0);
        }
        __kmpc_barrier(&g_place, 0);
    });
    another.join();
}

void add_in_clang_reduction(void* group, long& original, long value) {
    *static_cast<long*>(__kmpc_task_reduction_get_th_data(0, group, &original)) += value;
}

TEST_P(openmp_clang, a_taskgroup_reduces) {
    clang_region(members(), [] {
        if (__kmpc_single(&g_place, 0) != 0) {
            long sum = 5;
            kmpc_reduction described{};
            described.shared = &sum;
            described.original = &sum;
            described.size = sizeof sum;
            described.initialize = [](void* copy, void*) { *static_cast<long*>(copy) = 0; };
            described.combine = [](void* into, void* from) {
                *static_cast<long*>(into) += *static_cast<long*>(from);
            };
            __kmpc_taskgroup(&g_place, 0);
            void* const group = __kmpc_taskred_init(0, 1, &described);
            for (long i = 1; i <= 100; ++i) {
                __kmpc_omp_task(&g_place, 0, allocate([group, &sum, i] {
                    add_in_clang_reduction(group, sum, i);
                }));
            }
            __kmpc_end_taskgroup(&g_place, 0);
            EXPECT_EQ(sum, 5 + 5050);
            __kmpc_end_single(&g_place, 0);
        }
        __kmpc_barrier(&g_place, 0);
    });
}

TEST(openmp_clang_regions, a_region_that_is_not_divided_has_one_member) {
    __kmpc_serialized_parallel(&g_place, 0);
    EXPECT_EQ(omp_get_num_threads(), 1);
    EXPECT_EQ(omp_get_level(), 1);
    int runs = 0;
    __kmpc_omp_task(&g_place, 0, allocate([&runs] { runs += 1; }));
    __kmpc_end_serialized_parallel(&g_place, 0);
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(omp_get_level(), 0);
}

}  // namespace
