// SPDX-License-Identifier: BSL-1.0
// The longest chain of recordings that are made by hand.
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
    // Made when its parent had run for 30; begun much later.
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
    // 1 runs for 10 and waits; 2, which it made at its end, runs for 100 and wakes it; 5 are left.
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

}  // namespace
