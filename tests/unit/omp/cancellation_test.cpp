// SPDX-License-Identifier: BSL-1.0
// Cancelled regions, loops and taskgroups through the entry points that gcc's compiled code calls.
// The library reads OMP_CANCELLATION when the process first calls it: ctest sets it for this
// source.
#include "unit/omp/entry_points.hpp"

#include <atomic>

// NOLINTBEGIN(readability-identifier-naming)
extern "C" bool GOMP_loop_dynamic_start(long, long, long, long, long*, long*);
extern "C" bool GOMP_loop_dynamic_next(long*, long*);
extern "C" bool GOMP_loop_end_cancel();
// NOLINTEND(readability-identifier-naming)

namespace {

using namespace quern_test::openmp;

constexpr int k_region = 1;
constexpr int k_loop = 2;
constexpr int k_group = 8;

class openmp_cancellation : public with_members {
protected:
    void SetUp() override {
        if (omp_get_cancellation() == 0) {
            GTEST_SKIP() << "OMP_CANCELLATION=true is not set";
        }
    }
};
QUERN_WITH_1_2_8_MEMBERS(openmp_cancellation);

TEST_P(openmp_cancellation, members_leave_a_cancelled_region) {
    for (int round = 0; round < 30; ++round) {
        std::atomic<unsigned> left{0};
        std::atomic<int> stayed{0};
        region(members(), [&] {
            if (omp_get_thread_num() == static_cast<int>(members()) - 1) {
                EXPECT_TRUE(GOMP_cancel(k_region, true));
                left += 1;
                return;
            }
            while (!GOMP_cancellation_point(k_region)) {
                if (GOMP_barrier_cancel()) {
                    break;
                }
                stayed += 1;  // a barrier at which all arrive: none without the one that cancels
            }
            left += 1;
        });
        EXPECT_EQ(left, members());
        EXPECT_EQ(stayed, 0);
        std::atomic<unsigned> next{0};
        region(members(), [&next] {  // the next region is a whole one
            EXPECT_FALSE(GOMP_cancellation_point(k_region));
            next += 1;
            EXPECT_FALSE(GOMP_barrier_cancel());
            EXPECT_EQ(next, static_cast<unsigned>(omp_get_num_threads()));
        });
    }
}

TEST_P(openmp_cancellation, members_leave_a_cancelled_loop) {
    constexpr long k_iterations = 2000;
    for (int round = 0; round < 20; ++round) {
        std::atomic<long> runs{0};
        region(members(), [&] {
            long from = 0;
            long to = 0;
            bool some = GOMP_loop_dynamic_start(0, k_iterations, 1, 1, &from, &to);
            for (; some; some = GOMP_loop_dynamic_next(&from, &to)) {
                bool leaves = false;
                for (long i = from; i < to && !leaves; ++i) {
                    runs += 1;
                    leaves = i == 10 ? GOMP_cancel(k_loop, true) : GOMP_cancellation_point(k_loop);
                }
                if (leaves) {
                    break;
                }
            }
            EXPECT_FALSE(GOMP_loop_end_cancel());  // the region is not cancelled
            EXPECT_FALSE(GOMP_cancellation_point(k_loop));
        });
        EXPECT_GE(runs, 11);
        EXPECT_LT(runs, k_iterations);
    }
}

TEST_P(openmp_cancellation, tasks_of_a_cancelled_taskgroup_do_not_begin) {
    for (int round = 0; round < 20; ++round) {
        std::atomic<int> others{0};
        single_in_region(members(), [&others] {
            std::atomic<int> runs{0};
            spawn([&others] { others += 1; });
            task_group([&runs] {
                EXPECT_TRUE(GOMP_cancel(k_group, true));
                for (int i = 0; i < 20; ++i) {
                    spawn([&runs] { runs += 1; });
                }
            });
            EXPECT_EQ(runs, 0);
            task_group([&runs] {
                for (int i = 0; i < 20; ++i) {
                    spawn([&runs] {
                        if (GOMP_cancellation_point(k_group)) {
                            return;
                        }
                        runs += 1;
                        GOMP_cancel(k_group, true);
                    });
                }
            });
            EXPECT_GE(runs, 1);
            EXPECT_LE(runs, 20);
            const int before = runs;
            task_group([&runs] { spawn([&runs] { runs += 1; }); });
            EXPECT_EQ(runs, before + 1);
        });
        EXPECT_EQ(others, 1);
    }
}

TEST_P(openmp_cancellation, tasks_end_when_their_region_is_cancelled) {
    for (int round = 0; round < 20; ++round) {
        std::atomic<int> begun{0};
        std::atomic<int> ended{0};
        region(members(), [&] {
            for (int i = 0; i < 10; ++i) {
                spawn([&begun, &ended] {
                    begun += 1;
                    if (!GOMP_cancellation_point(k_region)) {
                        GOMP_taskwait();
                    }
                    ended += 1;
                });
            }
            GOMP_cancel(k_region, omp_get_thread_num() == 0);
        });
        EXPECT_EQ(begun, ended);
    }
}

}  // namespace
