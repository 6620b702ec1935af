// SPDX-License-Identifier: BSL-1.0
// Counters over time: samples are taken while a reader needs them, and not afterwards.
#include <quern/counters/counter.hpp>

#include "unit/counters/expect_refusal.hpp"
#include "unit/scheduler/on_runtime.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

namespace counters = quern::counters;
using quern_test::eventually;
using quern_test::expect_part;
using quern_test::refusal_of;

/// Threads of the process with that name.
int threads_named(const std::string& name) {
    int count = 0;
    std::error_code gone;
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/task", gone)) {
        std::string comm;
        std::ifstream(each.path() / "comm") >> comm;
        count += comm == name ? 1 : 0;
    }
    return count;
}

/// A thread that has been joined may be seen for a moment.
bool comes_to_threads_for_time(int count) {
    return eventually([count] { return threads_named("quern-time") == count; });
}

/// The live server uses the thread for time, too.
struct without_live_server {
    without_live_server() { ::setenv("QUERN_LIVE", "off", 1); }
    without_live_server(const without_live_server&) = delete;
    without_live_server& operator=(const without_live_server&) = delete;
    ~without_live_server() { ::unsetenv("QUERN_LIVE"); }
};

class statistics_test : public testing::Test {
protected:
    /// A counter that returns 1, 2, 3, … at successive readings, until `last`.
    counters::installation steps(double last) {
        return counters::install("/app/steps",
                                 [this, last] {
                                     const int now = reads < last ? ++reads : reads.load();
                                     return double(now);
                                 },
                                 {.kind = counters::counter_kind::level, .unit = "ns"});
    }

    std::atomic<int> reads{0};
    without_live_server alone;
    quern::runtime rt{quern::runtime_options::with_workers(1)};
};

// Holds: counters: /statistics: of the samples since the baseline, or of a window of them.
TEST_F(statistics_test, cover_all_samples) {
    const auto kept = steps(1e9);
    counters::counter_set set(rt);
    for (const char* each : {"average", "min", "max", "median", "stddev"}) {
        set.add("/statistics{/app/steps}/" + std::string(each) + "@1");
    }
    ASSERT_TRUE(eventually([&] {
        const auto values = set.evaluate().values;
        return std::all_of(values.begin(), values.end(), [](const auto& v) { return v.ok(); }) &&
               values[2].value > 50;
    }));
    const auto values = set.evaluate().values;
    EXPECT_GT(values[0].value, values[1].value);
    EXPECT_LT(values[0].value, values[2].value + 100);
    EXPECT_GT(values[4].value, 0);
    EXPECT_EQ(values[0].unit, "ns");
    EXPECT_EQ(values[0].name, "/statistics{/app{locality#0/total}/steps}/average@1");
}

// Holds: counters: /statistics: of the samples...
TEST_F(statistics_test, forget_what_has_left_the_window) {
    const auto kept = steps(20);
    counters::counter_set set(rt);
    set.add("/statistics{/app/steps}/min@1");  // first, so that it sees the first steps
    for (const char* each : {"rolling_min", "rolling_max", "rolling_average", "rolling_stddev"}) {
        set.add("/statistics{/app/steps}/" + std::string(each) + "@1,3");
    }
    ASSERT_TRUE(eventually([&] { return set.evaluate().values[1].value == 20; }));
    ASSERT_TRUE(eventually([&] { return set.evaluate().values[3].value == 20; }));
    // Each statistic takes samples of its own, so one may be behind the others.
    EXPECT_TRUE(eventually([&] { return set.evaluate().values[2].value == 20; }));
    EXPECT_TRUE(eventually([&] { return set.evaluate().values[4].value == 0; }));
    EXPECT_LT(set.evaluate().values[0].value, 20);
}

TEST_F(statistics_test, say_that_there_is_no_sample_yet) {
    const auto value =
        counters::create("/statistics{/runtime/uptime}/average@86400000", rt).value();
    EXPECT_FALSE(value.ok());
    EXPECT_EQ(value.why, "no sample yet; there is one every 86400000 ms");
}

TEST_F(statistics_test, say_why_the_counter_is_unavailable) {
    auto reader = counters::create("/statistics{/threads/count/stolen-from-staged}/average@1", rt);
    EXPECT_TRUE(
        eventually([&] { return reader.value().why.find("same queues") != std::string::npos; }));
}

// Holds: counters: /statistics: of the samples...
TEST_F(statistics_test, forget_all_at_a_reset) {
    const auto kept = steps(1e9);
    auto reader = counters::create("/statistics{/app/steps}/min@1", rt);
    ASSERT_TRUE(eventually([&] { return reader.value().ok(); }));
    const double before = reader.value().value;
    reader.reset();
    EXPECT_TRUE(eventually([&] { return reader.value().ok(); }));
    EXPECT_GT(reader.value().value, before);
}

// Holds: counters: /statistics: of the samples...
TEST_F(statistics_test, count_from_sample_to_sample_where_that_is_wanted) {
    std::atomic<int> sum{0};
    const auto kept = counters::install("/app/sum", [&] { return double(sum += 5); });
    auto reader = counters::create("/statistics{/app/sum}/max@1,10,1", rt);
    ASSERT_TRUE(eventually([&] { return reader.value().ok() && sum > 100; }));
    EXPECT_EQ(reader.value().value, 5);
}

TEST_F(statistics_test, expand_wildcards) {
    counters::counter_set set(rt);
    EXPECT_EQ(set.add("/statistics{/threads{*}/idle-rate}/average@1000"), 2U);
}

TEST_F(statistics_test, may_be_of_arithmetics) {
    auto reader =
        counters::create("/statistics{/arithmetics/add@/runtime/uptime,/runtime/uptime}/max@1", rt);
    EXPECT_TRUE(eventually([&] { return reader.value().ok(); }));
    EXPECT_GT(reader.value().value, 0);
}

// Holds: counters: /statistics: sampled on the one thread for time.
TEST_F(statistics_test, need_no_thread_of_their_own) {
    ASSERT_TRUE(comes_to_threads_for_time(0));
    {
        auto one = counters::create("/statistics{/runtime/uptime}/average@1", rt);
        auto two = counters::create("/statistics{/runtime/uptime}/max@2", rt);
        EXPECT_TRUE(eventually([&] { return one.value().ok() && two.value().ok(); }));
        EXPECT_TRUE(comes_to_threads_for_time(1));
    }
    EXPECT_TRUE(comes_to_threads_for_time(0));
}

TEST_F(statistics_test, outlive_the_counter_and_the_runtime) {
    auto mine = std::make_unique<quern::runtime>(quern::runtime_options::with_workers(1));
    auto kept = steps(1e9);
    auto reader = counters::create("/statistics{/app/steps}/max@1", *mine);
    ASSERT_TRUE(eventually([&] { return reader.value().ok(); }));
    kept.remove();
    mine.reset();
    EXPECT_TRUE(reader.value().ok());  // the earlier samples
}

TEST_F(statistics_test, may_come_and_go_on_several_threads) {
    ASSERT_TRUE(comes_to_threads_for_time(0));
    std::vector<std::thread> all;
    for (int i = 0; i < 4; ++i) {
        all.emplace_back([this] {
            for (int j = 0; j < quern_test::scaled(50, 10); ++j) {
                auto reader = counters::create("/statistics{/threads/idle-rate}/average@1", rt);
                reader.value();
                reader.reset();
            }
        });
    }
    for (std::thread& each : all) {
        each.join();
    }
    EXPECT_TRUE(comes_to_threads_for_time(0));
}

// Holds: counters: Derived names that are...
TEST_F(statistics_test, refuse_what_they_do_not_know) {
    const auto refusal = [this](const char* name) {
        return refusal_of([&] { counters::create(name, rt); });
    };
    expect_part(refusal("/statistics{/runtime/uptime}/averag@1"), "did you mean 'average'?");
    expect_part(refusal("/statistics{/runtime/uptme}/average@1"), "'/runtime/uptime'?");
    expect_part(refusal("/statistics/average@1"), "in braces");
    expect_part(refusal("/statistics{total}/average@1"), "in braces");
    expect_part(refusal("/statistics{/runtime/uptime}/average@0"), "from 1 to 86400000");
    expect_part(refusal("/statistics{/runtime/uptime}/average@x"),
                "interval in milliseconds is 'x'");
    expect_part(refusal("/statistics{/runtime/uptime}/average@1,0"), "window in samples is '0'");
    expect_part(refusal("/statistics{/runtime/uptime}/average@1,1,2"), "resets is '2'");
    expect_part(refusal("/statistics{/runtime/uptime}/average@1,1,1,1"), "too much");
}

}  // namespace
