// SPDX-License-Identifier: BSL-1.0
// Counters as a recorder gets them: how each kind is drawn, and the reasons for missing ones.
#include <quern/counters/registry.hpp>
#include <quern/scheduler/detail/series_source.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <optional>

namespace {

namespace counters = quern::counters;
using quern::detail::series_value;

class series_test : public quern_test::on_runtime {
protected:
    auto reader(std::string_view names) const {
        return quern::detail::find_series_source()(rt, names);
    }
};

TEST_P(series_test, sums_are_rates_and_levels_are_as_they_are) {
    double count = 1e9;
    auto sum = counters::install("/series/sum", [&] { return count; }, {.unit = "J"});
    auto level = counters::install("/series/level", [&] { return count; },
                                   {.kind = counters::counter_kind::level, .unit = "B"});
    const auto begun = std::chrono::steady_clock::now();
    const auto from = reader(" /series/sum; /series/level ;");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    count += 100;
    std::vector<series_value> now = from->read();
    const std::chrono::duration<double> most = std::chrono::steady_clock::now() - begun;
    ASSERT_EQ(now.size(), 2U);
    EXPECT_EQ(now[0].name, "/series{locality#0/total}/sum");
    EXPECT_EQ(now[0].unit, "W");
    EXPECT_GE(now[0].value.value_or(0), 100 / most.count());
    EXPECT_LE(now[0].value.value_or(0), 100 / 0.002);
    EXPECT_EQ(now[1].unit, "B");
    EXPECT_EQ(now[1].value, count);
    now = from->read();
    EXPECT_EQ(now[0].value, 0.0) << "nothing since the last look";
    EXPECT_EQ(now[1].value, count);
}

TEST_P(series_test, ratios_are_of_the_time_since_the_last_look) {
    const auto from = reader("/threads/time/average;/threads{*}/idle-rate");
    quern::async(rt, [] { quern_test::spin_for(std::chrono::milliseconds(1)); }).get();
    ASSERT_TRUE(quern_test::eventually([&] { return from->read()[0].value.has_value(); }));
    ASSERT_TRUE(quern_test::eventually([&] { return !from->read()[0].value.has_value(); }));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const std::vector<series_value> now = from->read();
    ASSERT_EQ(now.size(), 2 + workers());
    EXPECT_EQ(now[0].unit, "ns");
    EXPECT_FALSE(now[0].value) << "no task since the last look";
    EXPECT_EQ(now[1].name, "/threads{locality#0/total}/idle-rate");
    EXPECT_EQ(now[1].unit, "%");
    EXPECT_GE(now[1].value.value_or(0), 0.0);
    EXPECT_LE(now[1].value.value_or(0), 101.0) << "of two looks at workers that go on";
}

TEST_P(series_test, statistics_keep_their_samples_between_looks) {
    const auto from = reader("/statistics{/runtime/memory/resident}/max@1");
    EXPECT_TRUE(quern_test::eventually([&] { return from->read()[0].value.value_or(0.0) > 1e5; }));
    EXPECT_TRUE(from->read()[0].value.has_value());
}

TEST_P(series_test, what_the_runtime_has_not_is_said) {
    const std::vector<series_value> now =
        reader("/threads{worker-thread#99}/idle-rate;/runtime/memory/resident")->read();
    ASSERT_EQ(now.size(), 2U);
    EXPECT_TRUE(now[0].value);
    EXPECT_EQ(now[1].name, "/threads{worker-thread#99}/idle-rate");
    EXPECT_FALSE(now[1].value);
    EXPECT_NE(now[1].why.find("there is no instance 'worker-thread#99'"), std::string::npos);
    EXPECT_EQ(now[1].why.rfind("counter name", 0), 0U) << now[1].why;
}

TEST_P(series_test, tells_whether_it_calls_the_program) {
    const auto own = counters::install("/series/own", [] { return 1.0; });
    EXPECT_FALSE(reader("/threads/idle-rate;/hw/r1a2;/runtime/memory/resident")->calls_program());
    EXPECT_TRUE(reader("/threads/idle-rate;/series/own")->calls_program());
    EXPECT_TRUE(reader("/arithmetics/add@/threads/idle-rate,/series/own")->calls_program());
}

QUERN_ON_1_2_8_WORKERS(series_test);

TEST(series_reader, may_outlive_its_runtime) {
    std::unique_ptr<quern::detail::series_reader> reader;
    {
        quern::runtime rt(quern::runtime_options::with_workers(1));
        reader = quern::detail::find_series_source()(rt, "/threads/idle-rate");
    }
    const std::vector<series_value> now = reader->read();
    ASSERT_EQ(now.size(), 1U);
    EXPECT_FALSE(now[0].value);
    EXPECT_EQ(now[0].why, "the runtime has ended");
}

}  // namespace
