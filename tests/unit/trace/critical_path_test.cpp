// SPDX-License-Identifier: BSL-1.0
// The longest chain of hand-made recordings.
#include <quern/trace/critical_path.hpp>

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace {

using quern::trace::slice;

quern::trace::recording of(std::vector<std::vector<slice>> lanes) {
    quern::trace::recording run;
    for (std::vector<slice>& each : lanes) {
        quern::trace::lane lane;
        lane.slices = std::move(each);
        run.lanes.push_back(std::move(lane));
    }
    return run;
}

TEST(critical_path_test, of_nothing_is_zero) { EXPECT_EQ(critical_path(of({{}, {}})), 0.0); }

TEST(critical_path_test, of_independent_tasks_is_the_longest_one) {
    EXPECT_EQ(critical_path(of({{{.begin_ns = 0, .end_ns = 50, .task = 1},
                                 {.begin_ns = 50, .end_ns = 80, .task = 2}},
                                {{.begin_ns = 0, .end_ns = 20, .task = 3}}})),
              50.0);
}

TEST(critical_path_test, goes_on_where_a_task_was_made_and_not_where_it_began) {
    // Made after 30 of its parent's run; begun much later.
    EXPECT_EQ(critical_path(of({{{.begin_ns = 100, .end_ns = 150, .task = 1}},
                                {{.begin_ns = 300,
                                  .end_ns = 400,
                                  .task = 2,
                                  .parent = 1,
                                  .cause = 1,
                                  .ready_ns = 130}}})),
              130.0);
}

TEST(critical_path_test, goes_through_whoever_wakes) {
    // 1 runs for 10 and waits; 2, which 1 made at its end, runs for 100 and wakes it; 5 remain.
    EXPECT_EQ(critical_path(
                  of({{{.begin_ns = 0, .end_ns = 10, .task = 1, .suspended = true},
                       {.begin_ns = 500, .end_ns = 505, .task = 1, .cause = 2, .ready_ns = 300}},
                      {{.begin_ns = 200, .end_ns = 300, .task = 2, .cause = 1, .ready_ns = 10}}})),
              115.0);
}

TEST(critical_path_test, goes_through_what_was_inlined) {
    EXPECT_EQ(
        critical_path(of(
            {{{.begin_ns = 0, .end_ns = 10, .task = 1, .covered = true},
              {.begin_ns = 10, .end_ns = 40, .task = 2, .inlined = true, .cause = 1, .ready_ns = 5},
              {.begin_ns = 40, .end_ns = 45, .task = 1, .continued = true}}})),
        40.0);  // 5 + 30 + 5
}

TEST(critical_path_test, is_not_known_where_slices_are_missing) {
    quern::trace::recording run = of({{{.begin_ns = 0, .end_ns = 50, .task = 1}}});
    run.lanes.front().dropped = 1;
    EXPECT_EQ(critical_path(run), 0.0);
}

TEST(critical_path_test, says_which_sites_it_runs_through) {
    // 1 makes 2 after 30 of its 100; 2 takes 200, and 3, which has no waiter, 150.
    quern::trace::recording run = of({{{.begin_ns = 0, .end_ns = 100, .task = 1, .site = 0}},
                                      {{.begin_ns = 40,
                                        .end_ns = 240,
                                        .task = 2,
                                        .parent = 1,
                                        .site = 1,
                                        .cause = 1,
                                        .ready_ns = 30}},
                                      {{.begin_ns = 0, .end_ns = 150, .task = 3, .site = 2}}});
    run.sites.resize(3);
    const quern::trace::critical_chain chain = critical_chain_of(run);
    EXPECT_EQ(chain.total_ns, 230.0);
    EXPECT_EQ(chain.site_ns, (std::vector<double>{30.0, 200.0, 0.0}));
}

/// Links of 1000, each of which makes the next one 10 before its end. One in ten is then
/// interrupted for 5000, while the next one runs.
quern::trace::recording interrupted_chain() {
    std::vector<std::vector<slice>> lanes(2);
    std::uint64_t at = 0;
    for (std::uint64_t i = 1; i <= 100; ++i) {
        const std::uint64_t late = i % 10 == 0 ? 5000 : 0;
        lanes[late != 0 ? 1 : 0].push_back({.begin_ns = at,
                                            .end_ns = at + 1000 + late,
                                            .task = i,
                                            .cause = i - 1,
                                            .ready_ns = at});
        at += 990;
    }
    quern::trace::recording run = of(std::move(lanes));
    run.sites.resize(1);
    for (quern::trace::lane& lane : run.lanes) {
        for (const slice& each : lane.slices) {
            lane.totals.running_ns += static_cast<double>(each.end_ns - each.begin_ns);
        }
    }
    const quern::trace::critical_chain chain = critical_chain_of(run);
    run.critical_path_ns = chain.total_ns;
    run.late_ends_ns = chain.late_ends_ns;
    return run;
}

TEST(critical_path_test, of_a_strict_chain_on_a_busy_machine_gives_a_parallelism_of_one) {
    quern::trace::recording run = interrupted_chain();
    EXPECT_GT(parallelism_of(run), 1.4) << "nothing says that the threads had no processor";
    run.taken.by_programs_ns = 1e6;
    EXPECT_NEAR(parallelism_of(run), 1.0, 0.02);
}

TEST(critical_path_test, parallelism_of_independent_tasks_on_a_busy_machine_is_their_number) {
    quern::trace::recording run;
    run.lanes.resize(4);
    for (quern::trace::lane& lane : run.lanes) {
        lane.totals.running_ns = 1000.0;
    }
    run.critical_path_ns = 1000.0;
    run.taken.by_programs_ns = 3000.0;
    EXPECT_EQ(parallelism_of(run), 4.0);
    EXPECT_EQ(parallelism_of(quern::trace::recording{}), 0.0);
}

}  // namespace
