// SPDX-License-Identifier: BSL-1.0
// Readers: a baseline of their own, one reading for all values, and the errors of a set.
#include <quern/counters/counter.hpp>

#include "unit/counters/expect_refusal.hpp"
#include "unit/scheduler/on_runtime.hpp"

namespace {

namespace counters = quern::counters;

class sets_test : public quern_test::on_runtime {
protected:
    void run_tasks(int count) {
        std::vector<quern::future<void>> all;
        for (int i = 0; i < count; ++i) {
            all.push_back(quern::async(rt, [] {}));
        }
        for (auto& f : all) {
            f.get();
        }
        rt.default_pool().get().wait_until_quiet();  // a task is counted after its future is ready
    }
};
QUERN_ON_1_2_8_WORKERS(sets_test);

// Holds: counters: A reader counts from when it was made or last reset; no reader disturbs another.
TEST_P(sets_test, count_from_when_they_were_made) {
    run_tasks(10);
    auto reader = counters::create("/threads/count/cumulative", rt);
    EXPECT_EQ(reader.value().value, 0);
    run_tasks(5);
    EXPECT_EQ(reader.value().value, 5);
    EXPECT_EQ(reader.value().value, 5);
}

// Holds: counters: A reader counts from...
TEST_P(sets_test, do_not_disturb_one_another) {
    auto first = counters::create("/threads/count/cumulative", rt);
    auto second = counters::create("/threads/count/cumulative", rt);
    run_tasks(3);
    first.reset();
    EXPECT_EQ(first.value().value, 0);
    EXPECT_EQ(second.value().value, 3);
    run_tasks(4);
    second.reset();
    EXPECT_EQ(first.value().value, 4);
    EXPECT_EQ(second.value().value, 0);
}

// Holds: counters: A reader counts from...
TEST_P(sets_test, move_their_baseline_with_an_evaluation) {
    counters::counter_set set(rt);
    set.add("/threads/count/cumulative");
    run_tasks(2);
    EXPECT_EQ(set.evaluate(true).values.front().value, 2);
    run_tasks(1);
    EXPECT_EQ(set.evaluate(true).values.front().value, 1);
    EXPECT_EQ(set.evaluate(true).values.front().value, 0);
}

// Holds: counters: baseline::start: from the start of what counts.
TEST_P(sets_test, count_from_the_start_where_that_is_wanted) {
    run_tasks(6);
    counters::counter_set set(rt, counters::baseline::start);
    set.add("/threads/count/cumulative");
    EXPECT_EQ(set.evaluate().values.front().value, 6);
}

/// Counts from its first reading.
class first_look final : public counters::source {
public:
    const std::vector<counters::counter_info>& counters() const override { return m_infos; }
    bool has_workers() const override { return false; }
    std::vector<counters::raw_reading> read(const counters::place&) override {
        const int before = m_looks++;
        return {{.above = 5.0 * before, .begins = before == 0}};
    }

private:
    std::vector<counters::counter_info> m_infos{
        {"/test/first-look", counters::counter_kind::sum, "", "what it is"}};
    int m_looks = 0;
};

TEST_P(sets_test, have_no_zero_of_what_counts_from_the_first_look) {
    const auto kept = counters::install(std::make_unique<first_look>());
    counters::counter_set set(rt, counters::baseline::start);
    set.add("/test/first-look");
    const auto first = set.evaluate().values.front();
    EXPECT_FALSE(first.ok());
    EXPECT_EQ(first.why, "counted from now on; ask again");
    EXPECT_EQ(set.evaluate().values.front().value, 5);
    counters::counter_set later(rt, counters::baseline::start);
    later.add("/test/first-look");
    EXPECT_EQ(later.evaluate().values.front().value, 10);
}

TEST_P(sets_test, count_from_now_also_what_counts_from_the_first_look) {
    const auto kept = counters::install(std::make_unique<first_look>());
    EXPECT_EQ(counters::create("/test/first-look", rt).value().value, 5);
}

// Holds: counters: What is unavailable says...
TEST_P(sets_test, have_no_mean_of_nothing) {
    run_tasks(1);
    const auto value = counters::create("/threads/time/average", rt).value();
    EXPECT_FALSE(value.ok());
    EXPECT_EQ(value.why, "nothing has been counted yet");
}

// Holds: counters: A set reads each source once for all values; sums over the workers are totals.
TEST_P(sets_test, read_a_source_once_for_all_that_is_asked) {
    std::atomic<int> reads{0};
    const auto kept = counters::install("/app/reads", [&] { return double(++reads); });
    counters::counter_set set(rt);
    set.add("/app/reads");
    set.add("/app/reads");
    set.add("/arithmetics/add@/app/reads,/app/reads");
    const int before = reads;
    const auto values = set.evaluate().values;
    EXPECT_EQ(reads, before + 1);
    EXPECT_EQ(values[0].value, values[1].value);
    EXPECT_EQ(values[2].value, 2 * values[0].value);
}

TEST_P(sets_test, give_the_time_since_the_runtime_started) {
    counters::counter_set set(rt);
    set.add("/runtime/uptime");
    const auto first = set.evaluate();
    const auto second = set.evaluate();
    EXPECT_GT(first.time_s, 0);
    EXPECT_GE(second.time_s, first.time_s);
    EXPECT_GE(first.values.front().value, 1e9 * first.time_s);  // read a moment later
}

TEST_P(sets_test, may_be_read_by_a_task) {
    const double tasks = inside([] {
        auto reader = counters::create("/threads/count/cumulative-phases");
        quern::async([] {}).get();
        return reader.value().value;
    });
    EXPECT_GE(tasks, 1);
}

// Holds: counters: create(): std::invalid_argument for a name that stands for several.
TEST(counter, refuses_what_stands_for_several) {
    quern::runtime rt(quern::runtime_options::with_workers(2));
    quern_test::expect_part(
        quern_test::refusal_of([&] { counters::create("/threads{*}/idle-rate", rt); }),
        "stands for 3 counters");
}

}  // namespace
