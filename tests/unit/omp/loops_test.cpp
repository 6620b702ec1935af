// SPDX-License-Identifier: BSL-1.0
// Loops of every schedule through the entry points that gcc's compiled code calls.
#include "unit/omp/entry_points.hpp"

#include <atomic>
#include <string>
#include <vector>

// NOLINTBEGIN(readability-identifier-naming)
#define QUERN_TEST_LOOP(NAME)                                                                  \
    extern "C" bool GOMP_loop_##NAME##_start(long, long, long, long, long*, long*);            \
    extern "C" bool GOMP_loop_##NAME##_next(long*, long*);                                     \
    extern "C" bool GOMP_loop_ull_##NAME##_start(bool, unsigned long long, unsigned long long, \
                                                 unsigned long long, unsigned long long,       \
                                                 unsigned long long*, unsigned long long*);    \
    extern "C" bool GOMP_loop_ull_##NAME##_next(unsigned long long*, unsigned long long*);
QUERN_TEST_LOOP(static)
QUERN_TEST_LOOP(dynamic)
QUERN_TEST_LOOP(guided)
QUERN_TEST_LOOP(nonmonotonic_dynamic)
QUERN_TEST_LOOP(nonmonotonic_guided)
QUERN_TEST_LOOP(ordered_static)
QUERN_TEST_LOOP(ordered_dynamic)
QUERN_TEST_LOOP(ordered_guided)
extern "C" void GOMP_loop_end();
extern "C" void GOMP_loop_end_nowait();
extern "C" void GOMP_ordered_start();
extern "C" void GOMP_ordered_end();
// NOLINTEND(readability-identifier-naming)

namespace {

using namespace quern_test::openmp;
using ull = unsigned long long;

struct schedule {
    const char* name;
    bool (*start)(long, long, long, long, long*, long*);
    bool (*next)(long*, long*);
    bool (*start_ull)(bool, ull, ull, ull, ull, ull*, ull*);
    bool (*next_ull)(ull*, ull*);
};
#define QUERN_SCHEDULE(NAME)                                                                    \
    {                                                                                           \
#        NAME, GOMP_loop_##NAME##_start, GOMP_loop_##NAME##_next, GOMP_loop_ull_##NAME##_start, \
            GOMP_loop_ull_##NAME##_next                                                         \
    }
constexpr schedule k_schedules[] = {QUERN_SCHEDULE(static), QUERN_SCHEDULE(dynamic),
                                    QUERN_SCHEDULE(guided), QUERN_SCHEDULE(nonmonotonic_dynamic),
                                    QUERN_SCHEDULE(nonmonotonic_guided)};
constexpr schedule k_ordered[] = {QUERN_SCHEDULE(ordered_static), QUERN_SCHEDULE(ordered_dynamic),
                                  QUERN_SCHEDULE(ordered_guided)};

struct bounds {
    long first;
    long end;
    long step;
    long chunk;
};
constexpr bounds k_loops[] = {{0, 500, 1, 1},     {0, 500, 1, 7},  {-20, 301, 3, 4},
                              {100, -250, -1, 3}, {5, 5, 1, 1},    {0, 1, 1, 1},
                              {0, 3, 1, 10},      {99, -1, -7, 2}, {0, 20000, 1, 64}};

std::vector<int> expected_of(const bounds& of, long offset, std::size_t size) {
    std::vector<int> runs(size, 0);
    for (long i = of.first; of.step > 0 ? i < of.end : i > of.end; i += of.step) {
        runs[static_cast<std::size_t>(i + offset)] += 1;
    }
    return runs;
}

constexpr long k_offset = 300;
constexpr std::size_t k_size = 20400;

class openmp_loops : public with_members {};
QUERN_WITH_1_2_8_MEMBERS(openmp_loops);

TEST_P(openmp_loops, each_iteration_runs_once) {
    for (const schedule& by : k_schedules) {
        std::vector<std::vector<int>> runs(std::size(k_loops), std::vector<int>(k_size, 0));
        region(members(), [&] {
            for (std::size_t loop = 0; loop < std::size(k_loops); ++loop) {
                const bounds& of = k_loops[loop];
                long from = 0;
                long to = 0;
                bool some = by.start(of.first, of.end, of.step, of.chunk, &from, &to);
                for (; some; some = by.next(&from, &to)) {
                    for (long i = from; of.step > 0 ? i < to : i > to; i += of.step) {
                        runs[loop][static_cast<std::size_t>(i + k_offset)] += 1;
                    }
                }
                if (loop % 2 == 0) {
                    GOMP_loop_end();
                } else {
                    GOMP_loop_end_nowait();
                }
            }
        });
        for (std::size_t loop = 0; loop < std::size(k_loops); ++loop) {
            EXPECT_EQ(runs[loop], expected_of(k_loops[loop], k_offset, k_size))
                << by.name << ", loop " << loop;
        }
    }
}

TEST_P(openmp_loops, unsigned_ones_reach_the_largest_number) {
    constexpr ull k_first = ~0ULL - 999;  // so that the last step leads to the end
    for (const schedule& by : k_schedules) {
        std::vector<int> runs(999, 0);
        region(members(), [&] {
            ull from = 0;
            ull to = 0;
            bool some = by.start_ull(true, k_first, ~0ULL, 3, 5, &from, &to);
            for (; some; some = by.next_ull(&from, &to)) {
                for (ull i = from; i != to; i += 3) {
                    runs[i - k_first] += 1;
                }
            }
            GOMP_loop_end();
        });
        for (std::size_t i = 0; i < runs.size(); ++i) {
            ASSERT_EQ(runs[i], i % 3 == 0 ? 1 : 0) << by.name << ", iteration " << i;
        }
    }
}

TEST_P(openmp_loops, ordered_parts_run_in_order) {
    for (const schedule& by : k_ordered) {
        std::vector<long> order;
        region(members(), [&] {
            for (const long chunk : {1L, 3L}) {
                long from = 0;
                long to = 0;
                bool some = by.start(0, 120, 1, chunk, &from, &to);
                for (; some; some = by.next(&from, &to)) {
                    for (long i = from; i < to; ++i) {
                        GOMP_ordered_start();
                        order.push_back(i);
                        GOMP_ordered_end();
                    }
                }
                GOMP_loop_end();
            }
        });
        ASSERT_EQ(order.size(), 240U) << by.name;
        for (std::size_t i = 0; i < order.size(); ++i) {
            ASSERT_EQ(order[i], static_cast<long>(i % 120)) << by.name;
        }
    }
}

TEST_P(openmp_loops, members_may_be_ahead_by_several_loops) {
    constexpr long k_loops_in_a_row = 40;
    std::atomic<long> sum{0};
    region(members(), [&] {
        for (long loop = 0; loop < k_loops_in_a_row; ++loop) {
            long from = 0;
            long to = 0;
            bool some = GOMP_loop_dynamic_start(0, loop, 1, 1, &from, &to);
            for (; some; some = GOMP_loop_dynamic_next(&from, &to)) {
                sum += to - from;
            }
            GOMP_loop_end_nowait();
        }
    });
    EXPECT_EQ(sum, k_loops_in_a_row * (k_loops_in_a_row - 1) / 2);
}

TEST_P(openmp_loops, tasks_made_in_a_loop_end_with_it) {
    std::vector<int> runs(200, 0);
    region(members(), [&] {
        long from = 0;
        long to = 0;
        bool some = GOMP_loop_nonmonotonic_dynamic_start(0, 200, 1, 2, &from, &to);
        for (; some; some = GOMP_loop_nonmonotonic_dynamic_next(&from, &to)) {
            for (long i = from; i < to; ++i) {
                spawn([&runs, i] { runs[static_cast<std::size_t>(i)] += 1; });
            }
        }
        GOMP_loop_end();
        EXPECT_EQ(runs, std::vector<int>(200, 1));
    });
}

}  // namespace
