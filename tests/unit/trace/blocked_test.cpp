// SPDX-License-Identifier: BSL-1.0
// A recording shows which tasks blocked their workers in the kernel: for each worker, and for the
// site that made them.
#include <quern/task/async.hpp>
#include <quern/trace/efficiency.hpp>
#include <quern/trace/recorder.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <algorithm>

#include <unistd.h>

namespace {

using quern::trace::efficiency_of;
using quern::trace::recording;

recording record_one(const char* name, void (*body)()) {
    quern::runtime rt(quern::runtime_options::with_workers(1));
    rt.default_pool().get().wait_until_quiet();
    quern::trace::recorder recorder(rt);
    quern::async({.name = name, .pool = &rt.default_pool().get()}, body).get();
    rt.default_pool().get().wait_until_quiet();
    return recorder.stop();
}

const quern::trace::site* find(const recording& run, const char* name) {
    const auto at = std::find_if(run.sites.begin(), run.sites.end(),
                                 [name](const auto& each) { return each.name == name; });
    return at != run.sites.end() ? &*at : nullptr;
}

TEST(a_recording_of_blocked_tasks, says_how_long_and_whose) {
    const recording run = record_one("sleeper", [] { ::usleep(200'000); });
    ASSERT_EQ(run.lanes.size(), 1U);
    ASSERT_TRUE(run.lanes[0].blocked_ns);
    EXPECT_GT(*run.lanes[0].blocked_ns, 150e6);
    EXPECT_LE(*run.lanes[0].blocked_ns, run.lanes[0].totals.running_ns);
    const auto* const site = find(run, "sleeper");
    ASSERT_NE(site, nullptr);
    EXPECT_GT(site->blocked_ns, 150e6);
    EXPECT_LE(site->blocked_ns, site->total_ns);
    const auto what = efficiency_of(run);
    EXPECT_EQ(what.largest, quern::trace::loss_kind::blocked);
    EXPECT_NE(what.remedy.find("'sleeper'"), std::string::npos) << what.remedy;
    EXPECT_NE(what.remedy.find("blocking_region"), std::string::npos) << what.remedy;
}

TEST(a_recording_of_blocked_tasks, does_not_blame_those_that_compute) {
    const recording run =
        record_one("worker", [] { quern_test::spin_for(std::chrono::milliseconds(100)); });
    const auto* const site = find(run, "worker");
    ASSERT_NE(site, nullptr);
    EXPECT_LT(site->blocked_ns, 0.2 * site->total_ns);
    EXPECT_LT(efficiency_of(run).blocked_ns.value_or(0.0), 0.2 * site->total_ns);
}

}  // namespace
