// SPDX-License-Identifier: BSL-1.0
// The rows of bench-virtual: that each runs all its tasks (a row throws if it does not), that
// parents suspend and resume on other workers, what idle gaps are, and that more than one waker has
// all workers at work sooner.
#include <gtest/gtest.h>

#include <idle.hpp>

#include <stdexcept>
#include <string>
#include <vector>

namespace {

using virtual_time::row_result;
using virtual_time::setup;

constexpr virtual_time::picoseconds k_row_us = 1'000'000;

setup row_setup(unsigned workers, long size) {
    setup s;
    virtual_time::costs& c = s.cost;
    c.load = c.store = 300;
    c.modify = 5'000;
    c.transfer = c.shared = 64'000;
    c.pause = 45'000;
    c.clock = 8'000;
    c.yield = c.futex_call = 174'000;
    c.futex_wake = 1'500'000;
    c.wake_latency = 40'000'000;
    c.barrier = c.interrupt = 650'000;
    c.loop_turn = 30'000;
    c.inline_spawn = 2'000;
    c.queued_spawn = 5'000;
    c.fork = 1'000;
    c.suspension = 66'000;
    s.workers = workers;
    s.size = size;
    s.by = "scope";
    return s;
}

TEST(virtual_rows, one_worker_pays_for_each_leaf_and_fork) {
    setup s = row_setup(1, 1000);
    s.work = 10'000;
    const row_result r = virtual_time::simulate_fork(s);
    EXPECT_NEAR(r.value, 1000 * 0.010 + 999 * (0.001 + 5 * 0.0003), 0.5);
    EXPECT_EQ(r.more.at("stolen"), 0);
    EXPECT_EQ(r.more.at("suspensions"), 0);
}

TEST(virtual_rows, every_leaf_runs_however_many_workers_take_part) {
    for (const unsigned workers : {2U, 3U, 16U}) {
        setup s = row_setup(workers, 20'000);
        s.work = 50'000;
        s.rounds = 3;
        const row_result r = virtual_time::simulate_fork(s);
        EXPECT_LT(r.value, 20'000 * 0.050) << workers;
        EXPECT_GT(r.more.at("stolen"), 0) << workers;
    }
}

TEST(virtual_rows, a_parent_suspends_where_a_thief_has_its_child) {
    setup s = row_setup(4, 64);
    s.work = 20 * k_row_us;
    s.rounds = 4;
    EXPECT_GT(virtual_time::simulate_fork(s).more.at("suspensions"), 0);
}

TEST(virtual_rows, a_run_is_the_same_each_time) {
    setup s = row_setup(5, 5'000);
    s.work = 20'000;
    s.before = 500 * k_row_us;
    const row_result first = virtual_time::simulate_fork(s);
    const row_result again = virtual_time::simulate_fork(s);
    EXPECT_EQ(first.value, again.value);
    EXPECT_EQ(first.more, again.more);
}

TEST(virtual_rows, every_iteration_runs) {
    for (const unsigned workers : {1U, 2U, 7U, 64U}) {
        for (const long iterations : {4L, 1000L, 100'003L}) {
            setup s = row_setup(workers, iterations);
            s.work = 1'000;
            s.rounds = 2;
            EXPECT_GT(virtual_time::simulate_loop(s).value, 0) << workers << ", " << iterations;
        }
    }
}

TEST(virtual_rows, every_node_of_the_tree_is_counted) {
    setup s = row_setup(4, 500);
    s.work = 200'000;
    const row_result r = virtual_time::simulate_uts(s);
    EXPECT_GT(r.value, 200.0 / 4);
    EXPECT_LT(r.value, 200.0);
    s.size = 501;
    EXPECT_THROW(virtual_time::simulate_uts(s), std::invalid_argument);
}

TEST(virtual_rows, others_run_the_siblings_of_a_long_leaf) {
    for (const std::string by : {"scope", "fork", "group"}) {
        setup s = row_setup(4, 100);
        s.by = by;
        s.before = 500 * k_row_us;
        const row_result r = virtual_time::simulate_leaf(s);
        EXPECT_LT(r.value, 50'000) << by << ": a worker was idle as long as the leaf lasted";
        EXPECT_GT(r.more.at("took_part"), 1) << by;
    }
}

TEST(virtual_rows, every_task_of_each_phase_runs) {
    for (const std::string by : {"scope", "group"}) {
        setup s = row_setup(3, 2'000);
        s.by = by;
        s.work = 1'000;
        EXPECT_LT(virtual_time::simulate_phase(s).value, 50'000) << by;
    }
    setup s = row_setup(3, 2'000);
    s.by = "fork";
    EXPECT_THROW(virtual_time::simulate_phase(s), std::invalid_argument);
}

TEST(virtual_rows, idle_gaps_by_hand) {
    // Worker 0: idle 1, runs, idle 2, runs the last task. Worker 1: idle 3, then 4 until that one
    // begins. Worker 2: none.
    const std::vector<virtual_time::record> tasks = {{1, 8, 0}, {10, 20, 0}, {3, 6, 1}};
    EXPECT_EQ(virtual_time::idle_gaps(tasks, 0, 3),
              (std::vector<virtual_time::picoseconds>{1, 2, 3, 4, 10}));
}

TEST(virtual_rows, a_tree_of_wake_ups_has_all_at_work_before_the_relay) {
    setup s = row_setup(16, 1 << 14);
    s.work = 500'000;
    s.before = 1000 * k_row_us;
    const row_result tree = virtual_time::simulate_fork(s);
    s.how.wakes = virtual_time::waking::relay;
    const row_result relay = virtual_time::simulate_fork(s);
    EXPECT_EQ(relay.more.at("took_part"), 16);
    EXPECT_EQ(tree.more.at("took_part"), 16);
    EXPECT_LT(tree.more.at("all_at_work_us"), relay.more.at("all_at_work_us"));
}

TEST(virtual_rows, a_wrong_answer_is_named) {
    try {
        virtual_time::expect("tasks that have run", 3, 4);
        FAIL();
    } catch (const std::logic_error& error) {
        EXPECT_STREQ(error.what(), "tasks that have run: expected 3, got 4");
    }
}

}  // namespace
