// SPDX-License-Identifier: BSL-1.0
// Taskloops through the entry point that gcc's compiled code calls.
#include "unit/omp/entry_points.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace {

using namespace quern_test::openmp;

class openmp_task_loops : public with_members {};
QUERN_WITH_1_2_8_MEMBERS(openmp_task_loops);

enum : unsigned { k_up = 256, k_grainsize = 512, k_if = 1024, k_nogroup = 2048, k_strict = 16384 };

/// A taskloop over 0 to count - 1: each task has a copy of `body` and calls it with its bounds.
template <class Body>
void task_loop(long count, unsigned flags, unsigned long wanted, const Body& body) {
    struct data {
        long first;
        long end;
        Body own;
    };
    data original{0, 0, body};
    GOMP_taskloop(
        [](void* at) {
            data& all = *static_cast<data*>(at);
            all.own(all.first, all.end);
            all.~data();
        },
        &original, [](void* into, void* from) { ::new (into) data(*static_cast<data*>(from)); },
        sizeof(data), alignof(data), k_up | flags, wanted, 0, 0, count, 1);
}

TEST_P(openmp_task_loops, each_iteration_is_run_once_however_they_are_divided) {
    const auto copied = std::make_shared<int>(0);
    single_in_region(members(), [&copied] {
        for (const long count : {0L, 1L, 2L, 7L, 100L, 701L}) {
            std::vector<int> runs(static_cast<std::size_t>(count), 0);
            int loops = 0;
            for (const unsigned flags : {0U, +k_grainsize, k_grainsize | k_strict}) {
                for (const unsigned long wanted : {0UL, 1UL, 3UL, 50UL, 1000UL}) {
                    task_loop(count, flags | k_if, wanted, [&runs, copied](long first, long end) {
                        for (; first < end; ++first) {
                            ++runs[static_cast<std::size_t>(first)];
                        }
                    });
                    ++loops;
                }
            }
            EXPECT_EQ(runs, std::vector<int>(static_cast<std::size_t>(count), loops));
        }
    });
    EXPECT_EQ(copied.use_count(), 1);
}

TEST_P(openmp_task_loops, tasks_of_a_loop_may_leave_children) {
    std::atomic<int> children{0};
    single_in_region(members(), [&children] {
        for (int round = 1; round <= 20; ++round) {
            task_loop(50, k_grainsize | k_if, 1, [&children](long first, long /*end*/) {
                if (first % 3 == 0) {
                    spawn([&children] { spawn([&children] { ++children; }); });
                }
            });
            EXPECT_EQ(children, 17 * round);
        }
    });
}

TEST_P(openmp_task_loops, all_members_have_loops_in_loops) {
    std::atomic<long> sum{0};
    region(members(), [&sum] {
        long own = 0;
        task_loop(40, k_grainsize | k_if, 1, [&sum, &own](long first, long /*end*/) {
            std::atomic<long> inner{0};
            task_loop(first, k_if, 5, [&inner](long from, long to) { inner += to - from; });
            EXPECT_EQ(inner, first);
            sum += inner;
            if (first == 0) {
                own = 1;
            }
        });
        EXPECT_EQ(own, 1);
    });
    EXPECT_EQ(sum, 780L * static_cast<long>(members()));
}

TEST_P(openmp_task_loops, a_loop_without_a_group_ends_at_the_taskwait) {
    std::atomic<long> sum{0};
    single_in_region(members(), [&sum] {
        task_loop(100, k_grainsize | k_if | k_nogroup, 1,
                  [&sum](long first, long /*end*/) { sum += first; });
        GOMP_taskwait();
        EXPECT_EQ(sum, 4950);
        task_loop(100, k_grainsize, 1, [&sum](long first, long /*end*/) { sum -= first; });
        EXPECT_EQ(sum, 0);
    });
}

}  // namespace
