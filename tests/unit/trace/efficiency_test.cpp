// SPDX-License-Identifier: BSL-1.0
// The parts add up, the largest loss is named, and each loss has its remedy with the right numbers.
#include <quern/trace/efficiency.hpp>

#include "sample_recording.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace {

using quern::trace::calibration;
using quern::trace::efficiency;
using quern::trace::efficiency_of;
using quern::trace::loss_kind;
using quern::trace::recording;
using quern::trace::verdict_text;
using quern_test::recording_of;

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

calibration alone(double mean_ns, std::uint64_t tasks = 1'000'000) {
    calibration times;
    times.sites = {{"update", "heat.cpp:42", tasks, mean_ns}};
    return times;
}

void expect_parts_to_add_up(const efficiency& of) {
    EXPECT_NEAR(of.work_ns + of.overhead_ns + of.starvation_ns + of.blocked_ns.value_or(0.0) +
                    of.inflation_ns.value_or(0.0) + of.lost_ns.value_or(0.0),
                of.total_ns, 1e-6 * of.total_ns);
}

TEST(efficiency, of_a_good_run_advises_nothing) {
    const efficiency good = efficiency_of(recording_of(4, {9.6, 0.3, 0.1}), alone(9'600.0));
    expect_parts_to_add_up(good);
    EXPECT_EQ(good.largest, loss_kind::none);
    EXPECT_EQ(good.headline, "A good run: 96 % of the time of 4 workers was work.");
    EXPECT_EQ(good.remedy,
              "Overhead took 3.0 %, starvation 1.0 %, inflation 0 %: no loss is worth a change.");
    EXPECT_EQ(efficiency_of(recording_of(1, {9.6, 0.3, 0.1})).headline,
              "A good run: 96 % of the time of 1 worker was work.");
}

TEST(efficiency, without_a_calibration_no_run_beside_others_is_called_good) {
    const efficiency found = efficiency_of(recording_of(4, {9.6, 0.3, 0.1}));
    EXPECT_EQ(found.largest, loss_kind::none);
    EXPECT_EQ(found.headline,
              "96 % of the time of 4 workers was in tasks; how much of that is work is not known.");
    EXPECT_TRUE(contains(found.remedy, "Overhead took 3.0 %, starvation 1.0 %")) << found.remedy;
    EXPECT_TRUE(contains(found.remedy, "false sharing")) << found.remedy;
    EXPECT_TRUE(contains(found.remedy, "`quern run --calibrate -- program`")) << found.remedy;
    EXPECT_EQ(found.note, "");
}

TEST(efficiency, overhead_wants_larger_tasks) {
    const efficiency fine = efficiency_of(recording_of(4, {2.0, 6.0, 1.0, 10'000'000}));
    expect_parts_to_add_up(fine);
    EXPECT_EQ(fine.largest, loss_kind::overhead);
    EXPECT_TRUE(
        contains(fine.remedy, "the runtime took 600 ns for each of 10,000,000 tasks of 200 ns"))
        << fine.remedy;
    EXPECT_TRUE(contains(fine.remedy, "30.0 times larger, 6.00 µs or more")) << fine.remedy;
    EXPECT_TRUE(contains(fine.remedy, "'update' (heat.cpp:42)")) << fine.remedy;
}

TEST(efficiency, the_making_of_tasks_is_overhead) {
    recording run = recording_of(1, {4.0, 5.0, 1.0, 1'000'000});
    run.lanes[0].totals.making_ns = 0.8 * run.lanes[0].totals.managing_ns;
    const efficiency of = efficiency_of(run);
    expect_parts_to_add_up(of);
    EXPECT_NEAR(of.share(of.work_ns), 0.4, 0.01);
    EXPECT_NEAR(of.share(of.overhead_ns), 0.5, 0.01);
    EXPECT_EQ(of.largest, loss_kind::overhead);
    EXPECT_TRUE(contains(of.remedy, "80 % of that went into making them")) << of.remedy;
    run.lanes[0].totals.making_ns = 1e30;  // never more than all the overhead
    expect_parts_to_add_up(efficiency_of(run));
}

TEST(efficiency, names_the_tasks_that_block_their_workers) {
    recording run = recording_of(2, {9.0, 0.2, 0.8, 100});
    for (auto& lane : run.lanes) {
        lane.blocked_ns = 0.8 * lane.totals.running_ns;
    }
    ASSERT_FALSE(run.sites.empty());
    run.sites.front().blocked_ns = 1e9;
    const efficiency of = efficiency_of(run);
    expect_parts_to_add_up(of);
    EXPECT_EQ(of.largest, loss_kind::blocked);
    EXPECT_NEAR(of.share(of.work_ns), 0.18, 0.01);
    EXPECT_TRUE(contains(of.remedy, "blocking_region")) << of.remedy;
    EXPECT_TRUE(contains(of.remedy, "quern::mutex")) << of.remedy;
    EXPECT_TRUE(contains(of.remedy, "Those of '" + run.sites.front().name)) << of.remedy;
    EXPECT_TRUE(contains(verdict_text(of), "blocked")) << verdict_text(of);
}

TEST(efficiency, overhead_of_large_tasks_is_not_blamed_on_their_size) {
    const efficiency large = efficiency_of(recording_of(2, {8.0, 1.5, 0.5, 2}));
    EXPECT_EQ(large.largest, loss_kind::overhead);
    EXPECT_FALSE(contains(large.remedy, "larger,")) << large.remedy;
    const efficiency idle = efficiency_of(recording_of(2, {0.0, 1.5, 0.5, 0}));
    EXPECT_EQ(idle.largest, loss_kind::overhead);
}

TEST(efficiency, starvation_wants_more_tasks_when_there_are_few) {
    const efficiency few = efficiency_of(recording_of(8, {3.0, 0.1, 5.0, 8}));
    EXPECT_EQ(few.largest, loss_kind::starvation);
    EXPECT_TRUE(contains(few.remedy, "on average 4.94 of 8 workers had nothing to do"))
        << few.remedy;
    EXPECT_TRUE(contains(few.remedy, "only 8 tasks for 8 workers")) << few.remedy;
}

TEST(efficiency, starvation_names_the_task_that_all_wait_for) {
    recording run = recording_of(4, {2.0, 0.0, 2.0, 1000});
    run.sites[0].max_ns = 0.9e9;
    const efficiency found = efficiency_of(run);
    EXPECT_TRUE(contains(found.remedy, "One task of 'update' (heat.cpp:42) took 900 ms, 90 %"))
        << found.remedy;
}

TEST(efficiency, starvation_knows_that_parts_of_a_long_task_were_stolen) {
    recording run = recording_of(4, {2.0, 0.0, 2.0, 1000});
    run.sites[0].max_ns = 0.9e9;
    run.sites.push_back({.name = "part of main",
                         .tasks = 89,
                         .stolen = 89,
                         .total_ns = 111e6,
                         .max_ns = 2e6,
                         .is_part = true});
    const efficiency found = efficiency_of(run);
    EXPECT_TRUE(contains(found.remedy,
                         "One task of 'update' (heat.cpp:42) took 900 ms, 90 % of the "
                         "run. Other workers took 89 parts of loops and forks, 111 ms "
                         "in all"))
        << found.remedy;
    EXPECT_FALSE(contains(found.remedy, "ivid")) << found.remedy;
}

/// A run that consists mostly of a task of 0.9 s, with its slice.
recording run_with_a_long_task(std::uint64_t begin_ns) {
    recording run = recording_of(4, {2.0, 0.0, 2.0, 1000});
    run.sites[0].max_ns = 0.9e9;
    for (quern::trace::lane& lane : run.lanes) {
        lane.dropped = 0;
        lane.slices = {{0, 1'000'000, lane.rank + 1, 0, 0, false}};
    }
    run.lanes[1].slices.push_back({begin_ns, begin_ns + 900'000'000, 9, 0, 0, false});
    return run;
}

TEST(efficiency, starvation_wants_a_long_task_first_only_where_it_began_late) {
    const efficiency late = efficiency_of(run_with_a_long_task(200'000'000));
    EXPECT_TRUE(
        contains(late.remedy, "Begin it first, for it began when 20 % of the run had passed"))
        << late.remedy;
    const efficiency early = efficiency_of(run_with_a_long_task(1'000'000));
    EXPECT_FALSE(contains(early.remedy, "egin it first")) << early.remedy;
    EXPECT_TRUE(contains(early.remedy, "only dividing it helps")) << early.remedy;
}

TEST(efficiency, starvation_names_the_lock_that_tasks_waited_for) {
    recording run = recording_of(4, {2.0, 0.0, 2.0, 1000});
    run.waits = {{.kind = "a future", .waits = 10, .total_ns = 9e9},
                 {.kind = "mutex",
                  .is_lock = true,
                  .thing = 0x5500,
                  .waits = 1000,
                  .total_ns = 3e9,
                  .lines = {{"update", "heat.cpp:44", 1000, 3e9}}}};
    const efficiency found = efficiency_of(run);
    EXPECT_TRUE(contains(found.remedy,
                         "Tasks of 'update' (heat.cpp:42) waited 1,000 times for the mutex 0x5500, "
                         "locked at heat.cpp:44, 3.00 ms each on average"))
        << found.remedy;
    run.waits[1].total_ns = 0.5e9;  // a fourth of the starvation
    EXPECT_FALSE(contains(efficiency_of(run).remedy, "mutex")) << efficiency_of(run).remedy;
}

TEST(efficiency, starvation_names_what_tasks_waited_at_for_each_other) {
    const auto remedy_of = [](const std::string& kind, std::uint64_t waits, double total_ns) {
        recording run = recording_of(4, {2.0, 0.0, 2.0, 1000});
        run.waits = {{.kind = kind,
                      .thing = 0x5500,
                      .waits = waits,
                      .total_ns = total_ns,
                      .lines = {{"update", "heat.cpp:44", waits, total_ns}}}};
        return efficiency_of(run).remedy;
    };
    const std::string full = remedy_of("channel, to send", 3605, 3e9);
    EXPECT_TRUE(contains(full,
                         "Tasks of 'update' (heat.cpp:42) waited 3,605 times to send to the "
                         "channel 0x5500, at heat.cpp:44, 832 µs each on average: it was "
                         "full: those that receive are too slow or too few."))
        << full;
    EXPECT_FALSE(contains(full, "smaller tasks")) << full;
    EXPECT_TRUE(contains(remedy_of("channel, to receive", 3605, 3e9), "it was empty"));
    EXPECT_TRUE(contains(remedy_of("counting_semaphore", 3605, 3e9),
                         "3,605 times for the counting_semaphore 0x5500, at heat.cpp:44"));
    EXPECT_TRUE(contains(remedy_of("barrier", 3605, 3e9), "at the barrier 0x5500"));
    EXPECT_FALSE(contains(remedy_of("channel, to send", 3605, 0.5e9), "channel"));
    EXPECT_FALSE(contains(remedy_of("channel, to receive", 2, 3e9), "channel"));
}

TEST(efficiency, says_why_no_line_is_known) {
    recording run = recording_of(4, {2.0, 0.0, 2.0, 1000});
    EXPECT_FALSE(contains(efficiency_of(run).note, "No line"));
    run.why_no_lines = "compile it with -g";
    EXPECT_TRUE(
        contains(efficiency_of(run).note, "No line of the source is known: compile it with -g."))
        << efficiency_of(run).note;
}

TEST(efficiency, starvation_names_the_critical_path) {
    recording run = recording_of(8, {3.0, 0.1, 5.0, 1000});
    run.critical_path_ns = 1e9;
    EXPECT_TRUE(contains(efficiency_of(run).remedy, "on average 3.00 can run at a time"));
}

TEST(efficiency, starvation_is_not_blamed_on_a_chain_that_is_too_short_for_it) {
    recording run = recording_of(8, {3.0, 0.1, 5.0, 1000});
    run.critical_path_ns = 3e9 / 7;
    EXPECT_FALSE(contains(efficiency_of(run).remedy, "can run at a time"));
}

TEST(efficiency, starvation_names_a_serial_part) {
    recording run = recording_of(2, {1.4, 0.0, 0.6, 1000});
    for (quern::trace::lane& lane : run.lanes) {
        lane.dropped = 0;
    }
    run.lanes[0].slices = {{0, 1'000'000'000, 1, 0, 0, false}};
    run.lanes[1].slices = {{0, 400'000'000, 2, 0, 0, false}};
    const efficiency found = efficiency_of(run);
    EXPECT_TRUE(contains(found.remedy, "During 60 % of the run no more than one task ran"))
        << found.remedy;
}

TEST(efficiency, starvation_names_the_time_when_all_tasks_wait) {
    recording run = recording_of(2, {0.4, 0.0, 1.6, 1000});
    run.critical_path_ns = 0.3e9;
    for (quern::trace::lane& lane : run.lanes) {
        lane.dropped = 0;
        lane.slices = {{0, 200'000'000, lane.rank + 1, 0, 0, true}};
    }
    EXPECT_TRUE(contains(efficiency_of(run).remedy, "During 80 % of the run no task ran at all"))
        << efficiency_of(run).remedy;
}

TEST(efficiency, starvation_names_the_worker_that_has_all_the_work) {
    recording run = recording_of(4, {2.0, 0.0, 2.0, 1000});
    run.lanes[3].totals.running_ns = 1.0e9;
    run.lanes[3].totals.idle_ns = 0.0;
    EXPECT_TRUE(contains(efficiency_of(run).remedy, "Worker 3 ran tasks 1.60 times as long"))
        << efficiency_of(run).remedy;
}

TEST(efficiency, inflation_wants_fewer_workers_or_locality) {
    // 8 s of work in 10^6 tasks of 8 us, or 4 us on one worker alone.
    const efficiency found = efficiency_of(recording_of(4, {8.0, 0.5, 0.5}), alone(4'000.0));
    expect_parts_to_add_up(found);
    EXPECT_EQ(found.largest, loss_kind::inflation);
    EXPECT_DOUBLE_EQ(found.inflation_ns.value(), 4e9);
    EXPECT_DOUBLE_EQ(found.calibrated, 1.0);
    EXPECT_TRUE(contains(found.remedy, "take 8.00 µs, and 4.00 µs on one worker")) << found.remedy;
    EXPECT_TRUE(contains(found.remedy, "try 2 workers")) << found.remedy;
    EXPECT_TRUE(contains(found.remedy, "false sharing")) << found.remedy;
    EXPECT_TRUE(contains(found.remedy, "alignas(64)")) << found.remedy;
    EXPECT_EQ(found.note, "");
}

TEST(efficiency, a_little_inflation_is_no_reason_for_fewer_workers) {
    const efficiency found = efficiency_of(recording_of(2, {9.5, 0.2, 0.3}), alone(8'200.0));
    EXPECT_EQ(found.largest, loss_kind::inflation);
    EXPECT_TRUE(contains(found.remedy, "cache lines: bind the workers")) << found.remedy;
}

TEST(efficiency, inflation_of_tasks_that_lost_their_core_is_not_blamed_on_memory) {
    recording run = recording_of(4, {8.0, 0.5, 0.5});
    // A hundred of them took the 4 s that are lost.
    run.sites[0].max_ns = 40e6;
    run.sites[0].stddev_ns = 400e3;
    const efficiency found = efficiency_of(run, alone(4'000.0));
    EXPECT_TRUE(contains(found.remedy, "One took 40.0 ms: other threads had its core meanwhile"))
        << found.remedy;
    EXPECT_FALSE(contains(found.remedy, "memory"));
}

TEST(efficiency, one_task_that_lost_its_core_does_not_hide_that_all_took_longer) {
    recording run = recording_of(4, {8.0, 0.5, 0.5});
    run.sites[0].max_ns = 40e6;
    run.sites[0].stddev_ns = 40e3;
    const efficiency found = efficiency_of(run, alone(4'000.0));
    EXPECT_TRUE(contains(found.remedy, "They wait for memory")) << found.remedy;
}

TEST(efficiency, what_one_site_gained_is_not_set_against_what_another_lost) {
    // On one worker a loop ran in its caller's place; here its tasks have a site of their own.
    recording run = recording_of(4, {8.0, 0.5, 0.5});
    quern::trace::site caller = run.sites[0];
    caller.name = "caller";
    caller.tasks = 1;
    caller.total_ns = 1e9;
    run.sites.push_back(caller);
    calibration times = alone(4'000.0);
    times.sites.push_back({"caller", caller.location, 1, 9e9});
    const efficiency found = efficiency_of(run, times);
    EXPECT_DOUBLE_EQ(found.inflation_ns.value(), 4e9);
    EXPECT_EQ(found.largest, loss_kind::inflation);
}

TEST(efficiency, sites_that_divide_their_work_otherwise_are_not_compared) {
    const efficiency found =
        efficiency_of(recording_of(4, {9.6, 0.2, 0.2}), alone(4'000.0, 400'000));
    EXPECT_FALSE(found.inflation_ns.has_value());
    EXPECT_EQ(found.largest, loss_kind::none);
    EXPECT_TRUE(contains(found.note, "may be of other input")) << found.note;
}

TEST(efficiency, tasks_that_are_faster_than_alone_are_no_loss) {
    const efficiency found = efficiency_of(recording_of(4, {9.6, 0.2, 0.2}), alone(20'000.0));
    EXPECT_EQ(found.inflation_ns, 0.0);
    EXPECT_EQ(found.largest, loss_kind::none);
    expect_parts_to_add_up(found);
}

TEST(efficiency, says_what_limits_a_calibration) {
    recording run = recording_of(4, {8.0, 0.5, 0.5});
    const efficiency other = efficiency_of(run, alone(4'000.0, 100));
    EXPECT_TRUE(contains(other.note, "may be of other input: it has 100 tasks of 'update'"))
        << other.note;
    quern::trace::site unknown = run.sites[0];
    unknown.name = "not in the calibration";
    run.sites.push_back(unknown);
    const efficiency half = efficiency_of(run, alone(4'000.0));
    EXPECT_TRUE(contains(half.note, "50 % of the task time")) << half.note;
    calibration faulty;
    faulty.fault = "heat.quern-calibration:3: a damaged line; it is ignored";
    EXPECT_TRUE(contains(efficiency_of(run, faulty).note, faulty.fault));
}

TEST(efficiency, the_words_of_all_verdicts_differ) {
    const std::set<std::string> remedies = {
        efficiency_of(recording_of(4, {9.6, 0.3, 0.1})).remedy,
        efficiency_of(recording_of(4, {2.0, 6.0, 1.0})).remedy,
        efficiency_of(recording_of(4, {2.0, 1.0, 6.0})).remedy,
        efficiency_of(recording_of(4, {8.0, 0.5, 0.5}), alone(4'000.0)).remedy};
    EXPECT_EQ(remedies.size(), 4u);
}

TEST(efficiency, a_run_whose_processors_others_took_is_not_called_good) {
    recording run = recording_of(4, {9.6, 0.3, 0.1});
    run.taken.by_programs_ns = 3.4e9;
    const efficiency of = efficiency_of(run, alone(9'600.0));
    EXPECT_EQ(of.headline, "96 % of the time of 4 workers was work.");
    EXPECT_NE(of.warning, "");
}

// What the workers lost to other programs is a part of its own: it is no work, no
// inflation and no starvation.
TEST(efficiency, what_is_lost_is_a_part_of_its_own) {
    const efficiency quiet = efficiency_of(recording_of(4, {9.0, 0.5, 0.5}));
    EXPECT_FALSE(quiet.lost_ns);
    EXPECT_TRUE(contains(verdict_text(quiet), "  lost         unknown\n")) << verdict_text(quiet);

    recording run = recording_of(4, {9.0, 0.5, 0.5});
    double lost_ns = 0.0;
    for (auto& lane : run.lanes) {  // 80 % of the time in tasks, and some after wake-ups
        lane.lost_idle_ns = 0.5 * lane.totals.idle_ns;
        lane.lost_ns = 0.8 * lane.totals.running_ns + lane.lost_idle_ns;
        lost_ns += *lane.lost_ns;
    }
    run.taken.by_programs_ns = lost_ns;
    const efficiency of = efficiency_of(run);
    expect_parts_to_add_up(of);
    EXPECT_DOUBLE_EQ(of.lost_ns.value_or(0.0), lost_ns);
    EXPECT_NEAR(of.share(of.work_ns), 0.9 - 0.72 * 0.9 / 0.95, 1e-6);  // in proportion
    EXPECT_NEAR(of.share(of.starvation_ns), 0.025, 1e-6);
    EXPECT_NEAR(of.total_ns, quiet.total_ns, 1.0);
    EXPECT_EQ(of.headline,
              "22 % of the time of 4 workers was in tasks; how much of that is work is not known.");
    EXPECT_TRUE(contains(verdict_text(of), "  lost            74 %  ####")) << verdict_text(of);
    EXPECT_TRUE(contains(of.warning, "Other threads or programs took 74 %")) << of.warning;

    // Tasks take five times as long as alone: all of it is lost.
    const efficiency calibrated = efficiency_of(run, alone(9'000.0 / 5));
    expect_parts_to_add_up(calibrated);
    EXPECT_NEAR(calibrated.share(calibrated.inflation_ns.value_or(1e18)), 0.0, 1e-3);

    // No more is lost than there is.
    run.lanes.front().lost_ns = 1e15;
    const efficiency most = efficiency_of(run);
    expect_parts_to_add_up(most);
    EXPECT_GE(most.work_ns, 0.0);
    EXPECT_GE(most.starvation_ns, 0.0);
}

TEST(efficiency, names_who_took_the_processors_without_a_calibration) {
    recording run = recording_of(4, {9.6, 0.3, 0.1});
    run.taken = {.by_programs_ns = 3.4e9, .by_hypervisor_ns = 0.2e9, .by_quota_ns = {}};
    const efficiency of = efficiency_of(run);
    EXPECT_TRUE(contains(of.warning,
                         "Other threads or programs took 34 % of the workers' time, "
                         "the hypervisor took 2.0 %."))
        << of.warning;
    EXPECT_TRUE(contains(of.warning, "quiet machine")) << of.warning;
    EXPECT_TRUE(contains(verdict_text(of), "Other threads or programs took 34 %"));
    run.taken.by_programs_ns = 0.2e9;  // with the hypervisor 4 %
    EXPECT_EQ(efficiency_of(run).warning, "");
}

TEST(efficiency, inflation_is_attributed_to_lost_processors_before_memory) {
    recording run = recording_of(4, {9.0, 0.5, 0.5});
    run.taken.by_programs_ns = 3e9;
    const efficiency busy = efficiency_of(run, alone(5'000.0));  // 4 s longer than alone
    EXPECT_EQ(busy.largest, loss_kind::inflation);
    EXPECT_TRUE(contains(busy.remedy,
                         "Up to 75 % of that is time in which their threads had no "
                         "processor. Other threads or programs took 30 %"))
        << busy.remedy;
    EXPECT_FALSE(contains(busy.remedy, "memory")) << busy.remedy;
    EXPECT_EQ(busy.warning, "");  // already reported
    run.taken.by_programs_ns = 1e9;
    const efficiency bound = efficiency_of(run, alone(5'000.0));
    EXPECT_TRUE(contains(bound.remedy, "memory")) << bound.remedy;
    EXPECT_TRUE(contains(bound.warning, "took 10 %")) << bound.warning;
}

TEST(efficiency, each_taker_has_its_remedy) {
    recording run = recording_of(4, {9.0, 0.5, 0.5});
    run.taken = {.by_programs_ns = 1e9, .by_hypervisor_ns = 3e9, .by_quota_ns = 2e9};
    EXPECT_TRUE(contains(efficiency_of(run).warning, "not shared")) << efficiency_of(run).warning;
    run.taken.by_quota_ns = 4e9;
    EXPECT_TRUE(contains(efficiency_of(run).warning, "the quota pays for"));
    run.taken = {.by_programs_ns = 5e9, .by_hypervisor_ns = {}, .by_quota_ns = {}, .processors = 2};
    EXPECT_TRUE(contains(efficiency_of(run).warning, "4 workers for 2 processors"));
}

TEST(efficiency, of_nothing_says_so) {
    const efficiency nothing = efficiency_of(recording());
    EXPECT_EQ(nothing.headline, "Nothing was measured: no worker has run.");
    EXPECT_EQ(nothing.share(nothing.work_ns), 0.0);
    EXPECT_EQ(verdict_text(nothing), nothing.headline + "\n");
}

TEST(efficiency, withstands_numbers_that_are_none) {
    recording run = recording_of(2, {1.0, 1.0, 1.0});
    run.lanes[0].totals.running_ns = std::numeric_limits<double>::quiet_NaN();
    run.lanes[1].totals.idle_ns = -5.0;
    expect_parts_to_add_up(efficiency_of(run));
}

TEST(efficiency, text_has_the_parts_and_short_lines) {
    const std::string text = verdict_text(efficiency_of(recording_of(4, {2.0, 6.0, 2.0})));
    EXPECT_TRUE(contains(text, "  overhead        60 %  ##############################\n")) << text;
    EXPECT_TRUE(contains(text, "  inflation    unknown\n")) << text;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        ASSERT_NE(end, std::string::npos);
        EXPECT_LE(end - at, 90u);
        at = end + 1;
    }
}

}  // namespace
