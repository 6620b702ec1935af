// SPDX-License-Identifier: BSL-1.0
// What must not end a policy or mislead it: a counter without a value yet, a call that waits, names
// of sites that are found, a level at one moment, workers that are throttled, ranks of a job.
#include "policies/policy_state.hpp"
#include "unit/adaptation/on_workers.hpp"

#include <quern/adaptation/global_value.hpp>
#include <quern/adaptation/policy.hpp>
#include <quern/adaptation/throttling.hpp>
#include <quern/counters/registry.hpp>
#include <quern/scheduler/sites.hpp>
#include <quern/task/async.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

using namespace std::chrono_literals;
using quern::adaptation::every;
using quern::adaptation::policy_context;
using quern::adaptation::policy_handle;
using quern::adaptation::throttle_by_queue;
using quern::adaptation::throttle_options;
using quern_test::decisions_of;
using quern_test::eventually;
using quern_test::k_patient;
using quern_test::message_of;

/// A period of a millisecond, and no budget that a machine under load could exceed.
throttle_options quick(const std::string& name) {
    return {.name = name, .period = 1ms, .budget = 60s};
}

bool has_text(const std::string& policy, const std::string& part) {
    const auto all = decisions_of(policy);
    return std::any_of(all.begin(), all.end(), [&](const auto& each) {
        return quern::adaptation::text_of(each).find(part) != std::string::npos;
    });
}

class patience_test : public quern_test::on_workers {
protected:
    std::string name(const char* of) const { return of + std::to_string(GetParam()); }
};
QUERN_ON_WORKERS(patience_test);

// Holds: policy: The budget is of processor time: a call that waits, or whose thread other programs
// delay, does not exceed it.
TEST(patience_end_test, keeps_a_policy_that_waits) {
    std::atomic<int> calls{0};
    const policy_handle waits = every(1ms, "waits",
                                      [&](policy_context&) {
                                          std::this_thread::sleep_for(60ms);
                                          calls += 1;
                                      },
                                      {.budget = 50ms});
    EXPECT_TRUE(eventually([&] { return calls >= 3; }));
    EXPECT_TRUE(waits.is_active());
}

// Holds: policy: A counter that has no value yet ends a call, not the policy.
TEST(patience_end_test, keeps_a_policy_whose_counter_has_no_value_yet) {
    quern::runtime rt(quern::runtime_options::with_workers(1));
    std::atomic<int> begun{0};
    std::atomic<int> read{0};
    const policy_handle patient = every(
        1ms, "patient",
        [&](policy_context& now) {
            begun += 1;
            now.counter("/threads/time/average");  // no task in this period: no mean
            read += 1;
        },
        k_patient);
    ASSERT_TRUE(eventually([&] { return begun >= 5; }));
    EXPECT_EQ(read, 0);
    EXPECT_TRUE(patient.is_active());
    EXPECT_TRUE(eventually([&] {
        quern::async(rt, [] {}).get();
        return read > 0;
    }));
    const policy_handle wrong = every(
        1ms, "wrong", [](policy_context& now) { now.counter("/threads/creation-idle-rate"); },
        k_patient);
    EXPECT_TRUE(eventually([&] { return !wrong.is_active(); }));  // it will never have one
}

// Holds: global_value: reduce() refuses to answer for one rank of several.
TEST(patience_end_test, is_not_reduced_in_a_job_of_several_ranks) {
    const quern::adaptation::global_value load("job-load");
    load.publish(0.5);
    const auto sum = [&] { return load.reduce(quern::adaptation::reduction::sum); };
    for (const char* const variable :
         {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"}) {
        ::setenv(variable, "4", 1);
        EXPECT_EQ(message_of(sum),
                  "quern: global value 'job-load': this process is one of 4 ranks of an MPI job, "
                  "and values are not shared between ranks without a session of localities; make "
                  "a quern::localities::session, or reduce get() of all ranks with "
                  "MPI_Allreduce, or call get() for only this rank");
        EXPECT_EQ(load.get(), 0.5);
        for (const char* const alone : {"1", "0", "", "all"}) {
            ::setenv(variable, alone, 1);
            EXPECT_EQ(sum(), 0.5) << variable << "=" << alone;
        }
        ::unsetenv(variable);
    }
}

// Holds: throttling: throttle_by_queue() compares means of its metric over a period, not the values
// at the ends of periods.
TEST_P(patience_test, by_queue_compares_means_of_periods) {
    const quern::runtime rt(options());
    const auto pool = rt.default_pool();
    std::atomic<int> reads{0};
    const auto cost = quern::counters::install(
        "/test/swinging",
        [&, pool] {
            const int apart = static_cast<int>(pool.active_workers()) - 3;
            return (++reads % 2 == 0 ? 1.5 : 0.5) * (100 + 50 * std::abs(apart));
        },
        {.kind = quern::counters::counter_kind::level});
    throttle_options how = quick(name("means"));
    how.period = 32ms;
    how.metric = "/test/swinging";
    const policy_handle kept = throttle_by_queue(how);
    const unsigned best = std::min(3U, GetParam());
    ASSERT_TRUE(eventually([&] {
        const auto all = decisions_of(how.name);
        return GetParam() == 1 ? reads > 16
                               : !all.empty() && all.back().why.starts_with("the best is ");
    }));
    EXPECT_EQ(pool.active_workers(), best);
    EXPECT_TRUE(GetParam() < 3 || has_text(how.name, "mean of the period "));
}

// Holds: throttling: A counter that has no value yet ends no throttle.
TEST_P(patience_test, by_queue_waits_for_a_first_value) {
    quern::runtime rt(options());
    throttle_options how = quick(name("waits"));
    how.metric = "/threads/time/average";  // of no task there is no mean
    const policy_handle kept = throttle_by_queue(how);
    std::this_thread::sleep_for(20ms);
    EXPECT_TRUE(kept.is_active());
    EXPECT_TRUE(decisions_of(how.name).empty());
    EXPECT_TRUE(eventually([&] {
        quern::async(rt, [] { quern_test::spin_for(10us); }).get();
        return GetParam() == 1 || !decisions_of(how.name).empty();
    }));
    EXPECT_TRUE(kept.is_active());
}

// Holds: throttling: A worker that the knob keeps from work does not starve: that time is no part of
// the worker's time.
TEST_P(patience_test, throttled_workers_do_not_starve) {
    const quern::runtime rt(options());
    const auto pool = rt.default_pool();
    const unsigned last = GetParam() - 1;
    if (last == 0 || !quern::counts_sites()) {
        GTEST_SKIP() << "no worker to throttle, or no counters";
    }
    pool.set_knob("active-workers", 1);
    ASSERT_TRUE(eventually([&] { return pool.worker(last).throttled_ns > 0; }));
    const quern::worker_totals before = pool.worker(last);
    std::this_thread::sleep_for(10ms);
    quern::worker_totals spent = pool.worker(last);
    spent -= before;
    EXPECT_GE(spent.throttled_ns, 10e6);
    EXPECT_EQ(spent.idle_ns, 0);
    EXPECT_EQ(spent.total_ns(), 0);
    pool.set_knob("active-workers", GetParam());
    EXPECT_TRUE(eventually([&] {
        quern::worker_totals since = pool.worker(last);
        since -= before;
        return since.idle_ns > 0;  // it searches again
    }));
}

// Holds: throttling: Finding the names of sites, which takes long once, counts against no budget.
TEST(patience_end_test, finds_names_off_the_budget) {
    std::atomic<int> calls{0};
    const auto kept =
        quern::adaptation::every(1ms, "finds-names",
                                 [&](quern::adaptation::policy_context&) {
                                     const quern::adaptation::detail::off_budget finds_names;
                                     quern_test::work_for(60ms);
                                     calls += 1;
                                 },
                                 {.budget = 50ms});
    EXPECT_TRUE(eventually([&] { return calls >= 3; }));
    EXPECT_TRUE(kept.is_active());
}

}  // namespace
