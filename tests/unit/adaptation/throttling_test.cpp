// SPDX-License-Identifier: BSL-1.0
// Throttles on real pools: each drives the knob by its rule, refuses to start where it cannot
// measure, and leaves the knob to the program. Synthetic counters stand for the machine, so nothing
// here depends on its speed.
#include "unit/adaptation/on_workers.hpp"
#include "unit/topology/fake_tree.hpp"

#include <quern/adaptation/throttling.hpp>
#include <quern/counters/registry.hpp>
#include <quern/scheduler/sites.hpp>
#include <quern/task/async.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using quern::adaptation::live_power;
using quern::adaptation::policy_handle;
using quern::adaptation::power_cap;
using quern::adaptation::replayed_power;
using quern::adaptation::simulated_power;
using quern::adaptation::throttle_by_queue;
using quern::adaptation::throttle_by_saturation;
using quern::adaptation::throttle_by_throughput;
using quern::adaptation::throttle_options;
using quern_test::decisions_of;
using quern_test::eventually;
using quern_test::message_of;
using quern_test::with_mode;

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

class throttling_test : public quern_test::on_workers {
protected:
    std::string name(const char* of) const { return of + std::to_string(GetParam()); }
};
QUERN_ON_WORKERS(throttling_test);

// Holds: throttling: throttle_by_queue() settles on the number of workers for which its metric is
// least.
TEST_P(throttling_test, by_queue_minimises_its_metric) {
    const quern::runtime rt(options());
    const auto pool = rt.default_pool();
    const auto cost = quern::counters::install("/test/cost",
                                               [pool] {
                                                   const int n =
                                                       static_cast<int>(pool.active_workers());
                                                   return 100.0 + 50 * std::abs(n - 3);
                                               },
                                               {.kind = quern::counters::counter_kind::level});
    throttle_options how = quick(name("queue"));
    how.metric = "/test/cost";
    const policy_handle kept = throttle_by_queue(how);
    const unsigned best = std::min(3U, GetParam());
    // Two workers are the best from the beginning: the trial of one must be over.
    ASSERT_TRUE(eventually([&] {
        return pool.active_workers() == best &&
               (GetParam() != 2 || has_text(how.name, "active-workers 1 -> 2"));
    }));
    std::this_thread::sleep_for(15ms);
    EXPECT_EQ(pool.active_workers(), best);
    EXPECT_TRUE(GetParam() < 3 || has_text(how.name, "the best so far is 150 with 4 workers"));
    EXPECT_TRUE(GetParam() < 3 || has_text(how.name, "/test/cost "));
    // What it has tried are trials; what it stays at is the choice.
    EXPECT_TRUE(eventually([&] {
        const auto all = decisions_of(how.name);
        return GetParam() == 1 ||
               (!all.empty() && !all.back().is_trial && all.back().why.starts_with("the best is "));
    }));
    const auto all = decisions_of(how.name);
    EXPECT_LE(std::count_if(all.begin(), all.end(), [](auto& each) { return !each.is_trial; }), 1);
    EXPECT_TRUE(kept.is_active());
}

// Holds: throttling: throttle_by_saturation() moves to fewer workers when more do not increase the
// throughput.
TEST_P(throttling_test, by_saturation_finds_fewer_workers) {
    const quern::runtime rt(options());
    const auto pool = rt.default_pool();
    std::atomic<double> done{0};
    std::atomic<bool> is_over{false};
    std::thread machine([&] {  // two workers saturate it
        while (!is_over) {
            const auto begin = std::chrono::steady_clock::now();
            std::this_thread::sleep_for(100us);
            const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
            done = done + 1e6 * time.count() * std::min(2U, pool.active_workers());
        }
    });
    const auto steps = quern::counters::install("/test/steps", [&] { return done.load(); });
    throttle_options how = quick(name("saturation"));
    how.period = 5ms;
    how.work = "/test/steps";
    const policy_handle kept = throttle_by_saturation(how);
    EXPECT_TRUE(eventually([&] {
        return GetParam() < 3 || has_text(how.name, "% of the best throughput [/test/steps");
    }));
    EXPECT_TRUE(eventually([&] { return GetParam() < 3 || pool.active_workers() < GetParam(); }));
    EXPECT_TRUE(kept.is_active());
    is_over = true;
    machine.join();
}

// Holds: throttling: throttle_by_throughput() reads the calls of its site, by name.
TEST_P(throttling_test, by_throughput_reads_its_site) {
    if (!quern::counts_sites()) {
        GTEST_SKIP() << "without counters";
    }
    quern::runtime rt(options());
    throttle_options how = quick(name("throughput"));
    how.period = 2ms;
    const policy_handle kept = throttle_by_throughput("throttled-site", how);
    EXPECT_TRUE(eventually([&] {
        for (int i = 0; i < 100; ++i) {
            quern::async({.name = "throttled-site", .pool = &rt.default_pool().get()}, [] {
                quern_test::spin_for(5us);
            }).get();
        }
        return GetParam() == 1 || has_text(how.name, "[throttled-site ");
    }));
    EXPECT_TRUE(kept.is_active());
}

// Holds: throttling: power_cap() lowers the number of workers above its high cap to the least, and
// each decision says that the source is replayed.
TEST_P(throttling_test, power_cap_acts_on_a_replayed_series) {
    const quern::runtime rt(options());
    throttle_options how = quick(name("replayed"));
    how.power = replayed_power({100});
    const policy_handle kept = power_cap(20, 50, how);
    ASSERT_TRUE(eventually([&] { return rt.default_pool().active_workers() == 1; }));
    const auto all = decisions_of(how.name);
    std::vector<double> caps;
    for (const auto& each : all) {
        caps.push_back(each.after);
        EXPECT_EQ(each.why, "replayed power 100 W, mean 100 W, above the high cap of 50 W");
    }
    const std::vector<double> expected = GetParam() == 8   ? std::vector<double>{5, 3, 2, 1}
                                         : GetParam() == 2 ? std::vector<double>{1}
                                                           : std::vector<double>{};
    EXPECT_TRUE(eventually([&] { return decisions_of(how.name).size() == expected.size(); }));
    EXPECT_TRUE(caps.size() <= expected.size() &&
                std::equal(caps.begin(), caps.end(), expected.begin()));
}

// Holds: throttling: The simulated chip follows the workers that run: under load the cap acts, and
// after it all workers come back.
TEST_P(throttling_test, power_cap_acts_on_a_simulated_chip) {
    if (!quern::counts_sites()) {
        GTEST_SKIP() << "without counters";
    }
    quern::runtime rt(options());
    throttle_options how = quick(name("simulated"));
    how.power = simulated_power({.idle_watts = 10, .watts_per_worker = 10, .lag = 5ms});
    const policy_handle kept = power_cap(13, 16, how);
    std::atomic<bool> is_over{false};
    std::vector<quern::future<void>> all;
    for (unsigned i = 0; i < 8 * GetParam(); ++i) {
        all.push_back(quern::async(rt, [&] {
            while (!is_over) {
                quern_test::spin_for(200us);
                quern::this_task::yield();
            }
        }));
    }
    const unsigned workers = rt.workers();
    EXPECT_TRUE(eventually([&] { return workers == 1 || has_text(how.name, "simulated power "); }));
    is_over = true;
    for (auto& each : all) {
        each.get();
    }
    EXPECT_TRUE(eventually([&] { return rt.default_pool().active_workers() == workers; }));
}

// Holds: throttling: In a dry run the knob keeps its value, and the decision is logged.
TEST_P(throttling_test, changes_nothing_in_a_dry_run) {
    const with_mode dry("dry-run");
    const quern::runtime rt(options());
    throttle_options how = quick(name("dry-cap"));
    how.power = replayed_power({100});
    const policy_handle kept = power_cap(20, 50, how);
    const bool can_change = GetParam() > 1;
    EXPECT_TRUE(eventually([&] { return !can_change || !decisions_of(how.name).empty(); }));
    for (const auto& each : decisions_of(how.name)) {
        EXPECT_FALSE(each.applied);
    }
    EXPECT_EQ(rt.default_pool().active_workers(), GetParam());
    EXPECT_TRUE(kept.is_active());
}

// Holds: throttling: It acts within least and most, on the pool of its options alone.
TEST_P(throttling_test, keeps_to_its_range_and_pool) {
    quern::runtime_options two = options();
    two.pools.push_back({.name = "side", .workers = 4});
    const quern::runtime rt(two);
    throttle_options how = quick(name("range"));
    how.power = replayed_power({100});
    how.pool = rt.pool("side");
    how.least = 2;
    how.most = 3;
    const policy_handle kept = power_cap(20, 50, how);
    EXPECT_TRUE(eventually([&] { return rt.pool("side").active_workers() == 2; }));
    std::this_thread::sleep_for(10ms);
    EXPECT_EQ(rt.pool("side").active_workers(), 2U);
    EXPECT_EQ(rt.default_pool().active_workers(), GetParam());
}

// Holds: throttling: It ends when the program sets the knob itself; that value stays.
TEST(throttling_end_test, ends_when_the_program_sets_the_knob) {
    const quern::runtime rt(quern::runtime_options::with_workers(8));
    throttle_options how = quick("overruled");
    how.power = replayed_power({100});
    const policy_handle kept = power_cap(20, 50, how);
    ASSERT_TRUE(eventually([&] { return rt.default_pool().active_workers() == 1; }));
    rt.default_pool().set_active_workers(6);
    EXPECT_TRUE(eventually([&] { return !kept.is_active(); }));
    EXPECT_EQ(rt.default_pool().active_workers(), 6U);
    EXPECT_TRUE(has_text("overruled", "the program has set it since, and its value stays"));
}

// Holds: throttling: A second one for the same pool is ended, with a message that names the first.
TEST(throttling_end_test, a_second_one_is_refused) {
    const quern::runtime rt(quern::runtime_options::with_workers(4));
    throttle_options how = quick("first-cap");
    how.power = replayed_power({30});
    const policy_handle first = power_cap(20, 50, how);
    std::this_thread::sleep_for(5ms);
    testing::internal::CaptureStderr();
    how.name = "second-cap";
    policy_handle second;
    // The first may be late on a machine under load, and then the second is the first.
    second = power_cap(20, 50, how);
    ASSERT_TRUE(eventually([&] { return first.is_active() != second.is_active(); }));
    ASSERT_TRUE(eventually([&] {
        return has_text("second-cap", "registered") || has_text("first-cap", "registered");
    }));
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_NE(text.find("-cap' cannot set knob 'active-workers' of pool 'default': policy '"),
              std::string::npos)
        << text;
}

// Holds: throttling: One that is started before the runtime, and in a task, acts all the same.
TEST(throttling_end_test, may_be_started_before_the_runtime_and_in_a_task) {
    throttle_options how = quick("early");
    how.power = replayed_power({100});
    const policy_handle early = power_cap(20, 50, how);
    quern::runtime rt(quern::runtime_options::with_workers(4));
    EXPECT_TRUE(eventually([&] { return rt.default_pool().active_workers() == 1; }));
    const policy_handle in_task = quern::async(rt, [] { return throttle_by_queue(); }).get();
    EXPECT_TRUE(in_task.is_active());
}

// Holds: throttling: A counter that does not exist ends it, with the reason.
TEST(throttling_end_test, says_why_it_cannot_measure) {
    const quern::runtime rt(quern::runtime_options::with_workers(2));
    throttle_options how = quick("unknown");
    how.metric = "/threadqueue/lenght";
    testing::internal::CaptureStderr();
    const policy_handle kept = throttle_by_queue(how);
    ASSERT_TRUE(eventually([&] { return has_text("unknown", "registered 1 -> 0"); }));
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_NE(text.find("quern: policy 'unknown' is not called again"), std::string::npos) << text;
    EXPECT_NE(text.find("/threadqueue/length"), std::string::npos) << text;
}

// Holds: throttling: Wrong arguments are refused with a reason.
TEST(throttling_end_test, refuses_wrong_arguments) {
    const auto refusal = [](auto&& make) { return message_of([&] { auto kept = make(); }); };
    const char* const caps =
        "quern: power_cap() needs a low cap of at least 0 W and a high cap above it";
    EXPECT_EQ(refusal([] { return power_cap(50, 50, {.power = simulated_power()}); }), caps);
    EXPECT_EQ(refusal([] { return power_cap(-1, 50, {.power = simulated_power()}); }), caps);
    EXPECT_EQ(refusal([] { return throttle_by_queue({.least = 0}); }),
              "quern: throttle 'throttle-by-queue' needs a range of workers");
    EXPECT_EQ(refusal([] { return throttle_by_queue({.least = 3, .most = 2}); }),
              "quern: throttle 'throttle-by-queue' needs a range of workers");
    EXPECT_EQ(refusal([] { return throttle_by_throughput(""); }),
              "quern: throttle_by_throughput() needs the name of a site");
    EXPECT_EQ(refusal([] { return throttle_by_queue({.period = 0s}); }),
              "quern: policy 'throttle-by-queue' needs a period above 0");
    EXPECT_EQ(message_of([] { replayed_power({}); }),
              "quern: replayed_power() needs a number of watts");
}

// Holds: throttling: Where power cannot be read, power_cap() and live_power() refuse with the
// reason; a counter that does not move is a reason after three seconds.
TEST(live_power_test, says_why_power_cannot_be_read) {
    const quern::runtime rt(quern::runtime_options::with_workers(1));
    const fake::tree nothing;
    const std::string text = message_of([&] { live_power(nothing.root()); });
    EXPECT_EQ(text.find("quern: power cannot be read: /power/package: "), 0U) << text;
    EXPECT_GT(text.size(), 44U) << text;

    fake::tree dead;
    dead.file("/sys/class/powercap/intel-rapl:0/name", "package-0\n")
        .file("/sys/class/powercap/intel-rapl:0/max_energy_range_uj", "1000000000\n")
        .file("/sys/class/powercap/intel-rapl:0/energy_uj", "0\n");
    const auto source = live_power(dead.root());
    EXPECT_FALSE(source->watts(rt.default_pool(), 2s).has_value());
    EXPECT_NE(message_of([&] {
                  source->watts(rt.default_pool(), 2s);
              }).find("quern: power cannot be read: /power/package: "),
              std::string::npos);
}

// Holds: throttling: live_power() is energy over time.
TEST(live_power_test, is_energy_over_time) {
    const quern::runtime rt(quern::runtime_options::with_workers(1));
    fake::tree tree;
    tree.file("/sys/class/powercap/intel-rapl:0/name", "package-0\n")
        .file("/sys/class/powercap/intel-rapl:0/max_energy_range_uj", "1000000000\n")
        .file("/sys/class/powercap/intel-rapl:0/energy_uj", "5000000\n");
    const auto source = live_power(tree.root());
    EXPECT_EQ(source->label(), "live");
    tree.file("/sys/class/powercap/intel-rapl:0/energy_uj", "8000000\n");
    EXPECT_DOUBLE_EQ(source->watts(rt.default_pool(), 500ms).value_or(0), 6.0);
}

}  // namespace
