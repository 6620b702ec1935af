// SPDX-License-Identifier: BSL-1.0
// The log of decisions: what it keeps, how it words it, and where it shows.
#include <quern/adaptation/decisions.hpp>
#include <quern/counters/counter.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/settings/settings.hpp>
#include <quern/trace/recorder.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace {

using quern::adaptation::decision;
using quern::adaptation::decisions;
using quern::adaptation::log;
using quern::adaptation::text_of;

decision example() {
    return {.policy = "example",
            .subject = "tile",
            .unit = "points",
            .before = 32,
            .after = 64,
            .inputs = "overhead 12 %",
            .why = "too fine",
            .predicted = 0.9};
}

// Holds: decisions: text_of() names policy, subject, values, reason, inputs and the prediction.
TEST(decisions_test, are_worded) {
    EXPECT_EQ(text_of(example()),
              "example: tile 32 -> 64 points: too fine [overhead 12 %]; predicted cost 0.9");
    decision kept = example();
    kept.after = kept.before;
    kept.applied = false;
    kept.predicted.reset();
    kept.observed = 1.25;
    EXPECT_EQ(text_of(kept),
              "example: tile stays 32 points (not applied): too fine [overhead 12 %]; observed "
              "cost 1.25");
}

// Holds: decisions: Whole numbers have all of their digits, others six.
TEST(decisions_test, have_whole_numbers_with_all_digits) {
    decision large = example();
    large.before = 2'087'322;
    large.after = 1234567.25;
    EXPECT_EQ(text_of(large).find("example: tile 2087322 -> 1.23457e+06 points: "), 0U);
    large.after = -9'007'199'254'740'992.0;
    EXPECT_EQ(text_of(large).find("example: tile 2087322 -> -9007199254740992 points: "), 0U);
    large.after = 1e300;
    EXPECT_EQ(text_of(large).find("example: tile 2087322 -> 1e+300 points: "), 0U);
}

// Holds: decisions: The last 4096 decisions are kept, the oldest first.
TEST(decisions_test, keep_the_last) {
    for (int i = 0; i < 5000; ++i) {
        decision one = example();
        one.after = i;
        log(one);
    }
    const std::vector<decision> kept = decisions();
    ASSERT_EQ(kept.size(), 4096U);
    EXPECT_EQ(kept.front().after, 5000 - 4096);
    EXPECT_EQ(kept.back().after, 4999);
    EXPECT_LE(kept.front().time_ns, kept.back().time_ns);
    EXPECT_GT(kept.front().time_ns, 0U);
}

// Holds: decisions: They are counted, and a recording has them.
TEST(decisions_test, are_in_counters_and_recordings) {
    quern::runtime rt(quern::runtime_options::with_workers(1));
    auto counter = quern::counters::create("/adaptation/decisions", rt);
    quern::trace::recorder recorder(rt);
    log(example());
    EXPECT_EQ(counter.value().value, 1);
    const auto run = recorder.stop();
    ASSERT_EQ(run.decisions.size(), 1U);
    EXPECT_EQ(run.decisions.front().who, "example");
    EXPECT_EQ(run.decisions.front().what,
              "tile 32 -> 64 points: too fine [overhead 12 %]; predicted cost 0.9");
    ASSERT_TRUE(run.decisions.front().change);
    const quern::trace::value_change& change = *run.decisions.front().change;
    EXPECT_EQ(change.subject + " " + change.before + " " + change.after, "tile 32 64");
    ASSERT_EQ(change.numbers.size(), 1U);
    EXPECT_EQ(change.numbers.front().before, 32);
    EXPECT_EQ(change.numbers.front().after, 64);
    EXPECT_EQ(change.predicted, 0.9);
    EXPECT_EQ(change.observed, std::nullopt);
    EXPECT_FALSE(change.is_trial);
}

// Holds: decisions: Of values in words a recording has those numbers that were named.
TEST(decisions_test, in_words_name_their_numbers) {
    quern::runtime rt(quern::runtime_options::with_workers(1));
    quern::trace::recorder recorder(rt);
    decision made = example();
    made.before_text = "tile=8, order=rows";
    made.after_text = "tile=16, order=rows";
    made.numbers = {{"tile", 8, 16}};
    made.is_trial = true;
    log(made);
    const auto run = recorder.stop();
    ASSERT_EQ(run.decisions.size(), 1U);
    EXPECT_EQ(run.decisions.front().change->after, "tile=16, order=rows");
    ASSERT_EQ(run.decisions.front().change->numbers.size(), 1U);
    EXPECT_EQ(run.decisions.front().change->numbers.front().name, "tile");
    EXPECT_TRUE(run.decisions.front().change->is_trial);
}

// Holds: decisions: With the setting `decisions` they are written to a file as they are made.
TEST(decisions_test, are_written_to_a_file) {
    const std::string path = testing::TempDir() + "decisions_" + std::to_string(::getpid());
    ::unlink(path.c_str());
    quern::set_setting("decisions", path);
    {
        const quern::runtime rt(quern::runtime_options::with_workers(1));
        log(example());
    }
    quern::set_setting("decisions", "");
    {
        const quern::runtime rt(quern::runtime_options::with_workers(1));
        log(example());  // no longer
    }
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(text.find("quern: decision at "), 0U) << text;
    EXPECT_NE(text.find("example: tile 32 -> 64 points"), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), text.size() - 1) << text;
    ::unlink(path.c_str());
}

// Holds: decisions: the setting `adapt` of the runtime made last is the mode.
TEST(decisions_test, follow_the_setting_adapt) {
    using quern::adaptation::current_mode;
    using quern::adaptation::mode;
    const quern::runtime first(quern::runtime_options::with_workers(1));
    EXPECT_EQ(current_mode(), mode::on);
    quern::set_setting("adapt", "dry-run");
    EXPECT_EQ(current_mode(), mode::on);  // of the runtime
    const quern::runtime second(quern::runtime_options::with_workers(1));
    EXPECT_EQ(current_mode(), mode::dry_run);
    try {
        quern::set_setting("adapt", "dryrun");
        FAIL();
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find("did you mean 'dry-run'?"), std::string::npos)
            << error.what();
    }
    quern::set_setting("adapt", "on");
}

// Holds: decisions: Thread safe.
TEST(decisions_test, may_be_logged_by_several_threads) {
    const auto before = quern::adaptation::all_totals().decisions;
    std::vector<std::jthread> threads(4);
    for (auto& each : threads) {
        each = std::jthread([] {
            for (int i = 0; i < 500; ++i) {
                log(example());
                decisions();
            }
        });
    }
    threads.clear();
    EXPECT_EQ(quern::adaptation::all_totals().decisions - before, 2000U);
}

}  // namespace
