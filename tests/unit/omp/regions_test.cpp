// SPDX-License-Identifier: BSL-1.0
// Regions and what members do in them but for loops and tasks: numbers, nesting, barriers, single,
// sections, critical, locks; crews that grow, shrink, and belong to several threads.
#include "unit/omp/entry_points.hpp"

#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

namespace {

using namespace quern_test::openmp;

class openmp_regions : public with_members {};
QUERN_WITH_1_2_8_MEMBERS(openmp_regions);

TEST_P(openmp_regions, each_member_runs_the_body_once) {
    std::vector<int> runs(members(), 0);
    region(members(), [&] {
        EXPECT_EQ(static_cast<unsigned>(omp_get_num_threads()), runs.size());
        EXPECT_EQ(omp_get_level(), 1);
        runs[static_cast<unsigned>(omp_get_thread_num())] += 1;
    });
    EXPECT_EQ(runs, std::vector<int>(members(), 1));
    EXPECT_EQ(omp_get_level(), 0);
}

TEST_P(openmp_regions, a_barrier_orders_what_members_write) {
    constexpr unsigned k_rounds = 10;
    const unsigned size = members();
    std::vector<unsigned> values(size, 0);
    region(size, [&] {
        const auto here = static_cast<unsigned>(omp_get_thread_num());
        for (unsigned round = 1; round <= k_rounds; ++round) {
            values[here] = round;
            GOMP_barrier();
            EXPECT_EQ(std::accumulate(values.begin(), values.end(), 0U), round * size);
            GOMP_barrier();
        }
    });
}

TEST_P(openmp_regions, one_member_runs_a_single) {
    constexpr int k_rounds = 30;  // more than there are places for constructs at a time
    int value = 0;
    std::atomic<int> runs{0};
    region(members(), [&] {
        for (int round = 0; round < k_rounds; ++round) {
            if (GOMP_single_start()) {
                value += 1;
                runs += 1;
            }
            GOMP_barrier();
            EXPECT_EQ(value, round + 1);
            GOMP_barrier();
        }
        for (int round = 0; round < k_rounds; ++round) {  // nowait
            if (GOMP_single_start()) {
                runs += 1;
            }
        }
    });
    EXPECT_EQ(runs, 2 * k_rounds);
}

TEST_P(openmp_regions, the_value_of_one_member_is_copied_to_the_others) {
    std::atomic<int> writers{0};
    region(members(), [&] {
        for (int round = 0; round < 20; ++round) {
            int own = -1;
            if (void* const from = GOMP_single_copy_start()) {
                own = *static_cast<int*>(from);
            } else {
                own = round * 3;
                writers += 1;
                GOMP_single_copy_end(&own);
            }
            EXPECT_EQ(own, round * 3);
            GOMP_barrier();  // the writer's variable is read until here
        }
    });
    EXPECT_EQ(writers, 20);
}

TEST_P(openmp_regions, each_section_runs_once) {
    constexpr unsigned k_sections = 11;
    std::vector<int> runs(k_sections, 0);
    const auto body = [](void* data) {
        auto& all = *static_cast<std::vector<int>*>(data);
        for (unsigned next = GOMP_sections_next(); next != 0; next = GOMP_sections_next()) {
            all[next - 1] += 1;
        }
        GOMP_sections_end();
    };
    GOMP_parallel_sections(body, &runs, members(), k_sections, 0);
    EXPECT_EQ(runs, std::vector<int>(k_sections, 1));
}

TEST_P(openmp_regions, critical_regions_and_locks_exclude) {
    constexpr int k_rounds = 200;
    int by_critical = 0;
    int by_name = 0;
    int by_lock = 0;
    int by_trial = 0;
    int by_nest = 0;
    void* name = nullptr;
    std::uint64_t lock = 0;
    void* nest = nullptr;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
    region(members(), [&] {
        for (int round = 0; round < k_rounds; ++round) {
            GOMP_critical_start();
            by_critical += 1;
            GOMP_critical_end();
            GOMP_critical_name_start(&name);
            by_name += 1;
            GOMP_critical_name_end(&name);
            omp_set_lock(&lock);
            by_lock += 1;
            omp_unset_lock(&lock);
            if (omp_test_lock(&lock) != 0) {
                by_trial += 1;
                omp_unset_lock(&lock);
            }
            omp_set_nest_lock(&nest);
            omp_set_nest_lock(&nest);
            by_nest += 1;
            omp_unset_nest_lock(&nest);
            by_nest += 1;
            omp_unset_nest_lock(&nest);
        }
    });
    omp_destroy_nest_lock(&nest);
    const int all = k_rounds * static_cast<int>(members());
    EXPECT_EQ(by_critical, all);
    EXPECT_EQ(by_name, all);
    EXPECT_EQ(by_lock, all);
    EXPECT_GT(by_trial, 0);
    EXPECT_LE(by_trial, all);
    EXPECT_EQ(by_nest, 2 * all);
}

TEST_P(openmp_regions, regions_nest) {
    omp_set_max_active_levels(2);
    std::atomic<unsigned> inner_members{0};
    std::vector<unsigned> sums(members(), 0);
    region(members(), [&] {
        const auto outer = static_cast<unsigned>(omp_get_thread_num());
        for (const unsigned size : {2U, 1U, 3U}) {
            std::vector<unsigned> inner(size, 0);
            region(size, [&] {
                const auto here = static_cast<unsigned>(omp_get_thread_num());
                EXPECT_LT(here, static_cast<unsigned>(omp_get_num_threads()));
                inner[here] = outer + 1;
                inner_members += 1;
                GOMP_barrier();
            });
            sums[outer] += std::accumulate(inner.begin(), inner.end(), 0U);
            EXPECT_EQ(static_cast<unsigned>(omp_get_thread_num()), outer);
        }
    });
    EXPECT_EQ(inner_members, members() * 6);
    for (unsigned outer = 0; outer < members(); ++outer) {
        EXPECT_EQ(sums[outer], (outer + 1) * 6);
    }
}

/// Some regions of many sizes one after another, each with a barrier and tasks.
void run_regions_of_many_sizes(unsigned rounds) {
    static constexpr unsigned k_sizes[] = {8, 2, 5, 1, 3, 8, 7, 2};
    for (unsigned round = 0; round < rounds; ++round) {
        const unsigned size = k_sizes[round % std::size(k_sizes)];
        std::atomic<unsigned> tasks{0};
        std::vector<unsigned> seen(size, 0);
        region(size, [&] {
            seen[static_cast<unsigned>(omp_get_thread_num())] += 1;
            spawn([&tasks, size] {
                EXPECT_LT(static_cast<unsigned>(omp_get_thread_num()), size);
                tasks += 1;
            });
            GOMP_barrier();
            EXPECT_EQ(tasks, size);
        });
        EXPECT_EQ(seen, std::vector<unsigned>(size, 1));
    }
}

TEST(openmp_crews, one_crew_has_regions_of_many_sizes) { run_regions_of_many_sizes(32); }

TEST(openmp_crews, each_calling_thread_has_its_own) {
    std::vector<std::thread> callers;
    for (int i = 0; i < 2; ++i) {
        callers.emplace_back([] { run_regions_of_many_sizes(16); });
    }
    run_regions_of_many_sizes(16);
    for (std::thread& each : callers) {
        each.join();
    }
}

TEST(openmp_crews, they_end_with_their_thread) {
    for (unsigned i = 0; i < 6; ++i) {
        std::thread([i] {
            unsigned sum = 0;
            region(2 + i, [&sum] {
                GOMP_critical_start();
                sum += 1;
                GOMP_critical_end();
            });
            EXPECT_EQ(sum, 2 + i);
        }).join();
    }
}

/// Tasks of a region that follows a larger one run on its members only: a thread of the larger one
/// that is slow to leave it takes none.
TEST(openmp_crews, a_smaller_region_gets_no_threads_of_the_one_before) {
    constexpr int k_rounds = 60;
    std::atomic<int> tasks{0};
    for (int round = 0; round < k_rounds; ++round) {
        region(8, [] {});
        region(2, [&tasks] {
            for (int i = 0; i < 4; ++i) {
                spawn([&tasks] {
                    EXPECT_LT(omp_get_thread_num(), 2);
                    tasks += 1;
                });
            }
        });
    }
    EXPECT_EQ(tasks, k_rounds * 8);
}

}  // namespace
