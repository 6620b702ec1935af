// SPDX-License-Identifier: BSL-1.0
// A recording shows which tasks blocked their workers in the kernel: for each worker, and for the
// site that made them.
#include <quern/task/async.hpp>
#include <quern/trace/efficiency.hpp>
#include <quern/trace/recorder.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

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

/// Keeps the calling thread, and those that it starts, on one processor.
class on_one_processor {
public:
    on_one_processor() {
        ::sched_getaffinity(0, sizeof m_before, &m_before);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(static_cast<std::size_t>(::sched_getcpu()), &one);
        ::sched_setaffinity(0, sizeof one, &one);
    }
    ~on_one_processor() { ::sched_setaffinity(0, sizeof m_before, &m_before); }
    on_one_processor(const on_one_processor&) = delete;
    on_one_processor& operator=(const on_one_processor&) = delete;

private:
    cpu_set_t m_before{};
};

// A site has the time that its tasks had no processor, and how much of it may have been
// before them.
TEST(a_recording_of_tasks_beside_others, says_whose_time_was_lost) {
    if (::access("/proc/self/schedstat", R_OK) != 0) {
        GTEST_SKIP() << "this kernel does not tell how it schedules threads";
    }
    const on_one_processor here;
    std::atomic<bool> is_over{false};
    std::vector<std::jthread> others;
    for (int i = 0; i < 3; ++i) {
        others.emplace_back([&] {
            while (!is_over) {
            }
        });
    }
    const recording run =
        record_one("victim", [] { quern_test::spin_for(std::chrono::milliseconds(400)); });
    is_over = true;
    const auto* const site = find(run, "victim");
    ASSERT_NE(site, nullptr);
    EXPECT_GT(site->lost_ns, 0.2 * site->total_ns);  // three of four parts, if all are equal
    EXPECT_LE(site->lost_ns, site->total_ns);
    EXPECT_LE(site->lost_error_ns, site->lost_ns);
    ASSERT_TRUE(run.lanes[0].lost_ns);
    EXPECT_LE(site->lost_ns - site->lost_error_ns, *run.lanes[0].lost_ns);
    EXPECT_LT(site->blocked_ns, 0.2 * site->total_ns);
    const auto series = std::find_if(run.counters.begin(), run.counters.end(), [](auto& each) {
        return each.name == "workers without a processor";
    });
    ASSERT_NE(series, run.counters.end());
    EXPECT_EQ(series->why, "");
}

}  // namespace
