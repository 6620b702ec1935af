// SPDX-License-Identifier: BSL-1.0
// The table: largest first, with units, and no line lost.
#include <quern/trace/profile.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

namespace {

std::string written(const quern::trace::recording& run) {
    std::ostringstream to;
    write_profile(run, to);
    return to.str();
}

TEST(profile_test, the_kind_with_the_most_time_comes_first) {
    quern::trace::recording run;
    run.program = "heat";
    run.duration_ns = 2'000'000'000;
    run.lanes.resize(2);
    run.sites = {
        {.name = "few", .tasks = 2, .total_ns = 1e6, .min_ns = 4e5, .max_ns = 6e5},
        {.name = "many", .location = "heat.cpp:42", .tasks = 10, .inlined = 3, .total_ns = 3e6}};
    const std::string text = written(run);
    EXPECT_NE(text.find("heat, 2 s, 2 workers"), std::string::npos) << text;
    EXPECT_LT(text.find("many (heat.cpp:42)"), text.find("few")) << text;
    EXPECT_NE(text.find("300 µs"), std::string::npos) << text;  // the mean
    EXPECT_NE(text.find("75.0"), std::string::npos) << text;
}

TEST(profile_test, what_was_lost_has_a_column_where_any_was) {
    quern::trace::recording run;
    run.sites = {{.name = "few", .tasks = 2, .total_ns = 1e6},
                 {.name = "many", .tasks = 10, .total_ns = 3e6}};
    EXPECT_EQ(written(run).find("lost"), std::string::npos);
    run.sites[1].lost_ns = 7e5;
    const std::string text = written(run);
    EXPECT_NE(text.find("    stolen       lost\n"), std::string::npos) << text;
    EXPECT_NE(text.find("     700 µs\n"), std::string::npos) << text;
    EXPECT_NE(text.find("       0 ns\n"), std::string::npos) << text;
}

TEST(profile_test, what_is_too_much_is_summed_up) {
    quern::trace::recording run;
    for (int i = 0; i < 150; ++i) {
        run.sites.push_back({.name = "kind " + std::to_string(i), .tasks = 1, .total_ns = 1.0});
    }
    const std::string text = written(run);
    EXPECT_NE(text.find("(50 further kinds)"), std::string::npos) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 103);
}

TEST(profile_test, long_names_are_cut) {
    quern::trace::recording run;
    run.sites = {{.name = std::string(500, 'x'), .tasks = 1}};
    EXPECT_NE(written(run).find("xxx..."), std::string::npos);
}

TEST(profile_test, names_cannot_end_a_line_nor_command_a_terminal) {
    quern::trace::recording run;
    run.program = "a\nprogram";
    run.sites = {{.name = "read\n\x1b[31mline", .location = "a\tb.cpp:1", .tasks = 1}};
    run.waits = {
        {.kind = "lock\n", .waits = 1, .total_ns = 1, .lines = {{"f\n", "x.cpp:1", 1, 1}}}};
    run.decisions.push_back({.at_ns = 1, .who = "me\n", .what = "a\x07note"});
    const std::string text = written(run);
    for (const char* const part : {"a\\nprogram", "read\\n\\x1b[31mline (a\\tb.cpp:1)", "lock\\n",
                                   "f\\n at x.cpp:1", "me\\n", "a\\anote"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
    }
    EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) {
        return c == '\n' || (c & 0xe0) != 0;
    })) << text;
}

TEST(profile_test, a_name_is_cut_between_characters) {
    quern::trace::recording run;
    std::string name(44, 'x');
    for (int i = 0; i < 10; ++i) {
        name += "µ";
    }
    run.sites = {{.name = name, .tasks = 1}};
    EXPECT_NE(written(run).find(std::string(44, 'x') + "..."), std::string::npos) << written(run);
}

TEST(profile_test, says_what_tasks_waited_for_and_where_the_critical_path_is) {
    quern::trace::recording run;
    run.sites = {{.name = "update",
                  .location = "heat.cpp:42",
                  .tasks = 10,
                  .total_ns = 3e6,
                  .critical_ns = 9e5},
                 {.name = "other", .tasks = 1, .critical_ns = 1e5}};
    run.critical_path_ns = 1e6;
    run.lanes.resize(1);
    run.lanes[0].totals.running_ns = 3e6;
    run.waits = {{.kind = "mutex",
                  .is_lock = true,
                  .thing = 0x5500,
                  .waits = 30,
                  .total_ns = 4e6,
                  .max_ns = 4e5,
                  .lines = {{"update", "heat.cpp:44", 20, 3e6}, {"sum", "heat.cpp:9", 10, 1e6}}}};
    const std::string text = written(run);
    for (const char* const part :
         {"waited for", "mutex 0x5500", "4.00 ms", "update at heat.cpp:44, 75 %",
          "critical path 1 ms, average parallelism 3.00: 90 % update (heat.cpp:42), 10 % other"}) {
        EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
    }
}

TEST(profile_test, says_how_much_of_the_communication_was_hidden) {
    quern::trace::recording run;
    EXPECT_EQ(written(run).find("Communication"), std::string::npos);
    run.talk = {.sent = 1200, .received = 1, .bytes = 4096, .waiting_ns = 4e9, .hidden_ns = 3e9};
    std::string text = written(run);
    EXPECT_NE(text.find("Communication: 1,200 messages sent and 1 received, 4 KiB. Tasks waited "
                        "4.00 s in calls; 75 % of that was hidden: meanwhile the worker that the "
                        "task had left did other work. The other 1.00 s the worker had none.\n"),
              std::string::npos)
        << text;
    run.talk->waiting_ns = 0;
    text = written(run);
    EXPECT_NE(text.find("4 KiB. No task waited in a call.\n"), std::string::npos) << text;
}

TEST(profile_test, events_are_those_of_all_tasks_and_of_one) {
    quern::trace::recording run;
    run.events = {{.name = "instructions"}, {.name = "cycles"}, {.name = "r1", .why = "not here"}};
    run.sites = {{.name = "one", .tasks = 4, .total_ns = 2.0, .events = {5'000'000.0, 2e6, 0.0}},
                 {.name = "other", .tasks = 1, .total_ns = 1.0}};
    const std::string text = written(run);
    const std::string events = text.substr(text.find("events by kind of task"));
    for (const char* const part : {"5,000,000", "1,250,000", "500,000", "2.50",
                                   "r1: unavailable (not here)", "instr/cycle"}) {
        EXPECT_NE(events.find(part), std::string::npos) << part << " in\n" << events;
    }
    EXPECT_EQ(written({}).find("events by kind"), std::string::npos);
}

TEST(profile_test, lists_the_newest_decisions_without_trials) {
    quern::trace::recording run;
    EXPECT_EQ(written(run).find("decisions"), std::string::npos);
    const quern::trace::value_change change{.subject = "tile",
                                            .unit = "points",
                                            .before = "32",
                                            .after = "64",
                                            .inputs = "overhead 12 %",
                                            .why = "too fine",
                                            .predicted = 0.9,
                                            .observed = 0.8125};
    for (std::uint64_t i = 0; i < 30; ++i) {
        run.decisions.push_back({.at_ns = i * 1'000'000, .who = "example", .change = change});
        run.decisions.back().change->is_trial = i % 5 == 1;
    }
    run.decisions.push_back({.at_ns = 30'000'000, .who = "program", .what = "the grid changed"});
    const std::string text = written(run);
    const auto list = text.find("\ndecisions of tuners and policies");
    ASSERT_NE(list, std::string::npos) << text;
    EXPECT_NE(text.find("30.0 ms  program", list), std::string::npos) << text;
    EXPECT_LT(text.find("the grid changed\n", list), text.find("29.0 ms  example", list)) << text;
    EXPECT_NE(
        text.find(
            "tile                  32 -> 64 points                    0.9     0.812  too fine "
            "[overhead 12 %]\n"),
        std::string::npos)
        << text;
    EXPECT_EQ(text.find("26.0 ms", list), std::string::npos) << "a trial";
    EXPECT_NE(text.find("\n(and 5 further decisions and 6 trials)\n", list), std::string::npos)
        << text;
}

TEST(profile_test, has_the_last_decision_about_each_value) {
    quern::trace::recording run;
    run.decisions.resize(50, {.who = "often", .change = quern::trace::value_change{}});
    for (const char* const subject : {"often", "rare"}) {
        run.decisions.insert(
            run.decisions.begin(),
            {.who = subject, .change = quern::trace::value_change{.subject = subject}});
    }
    const std::string text = written(run);
    EXPECT_NE(text.find("rare"), std::string::npos) << text;
    EXPECT_NE(text.find("(and 32 further decisions)\n"), std::string::npos) << text;
}

TEST(profile_test, says_which_decisions_changed_nothing) {
    quern::trace::recording run;
    run.decisions = {
        {.who = "a", .change = quern::trace::value_change{.before = "8", .after = "8"}},
        {.who = "b",
         .change = quern::trace::value_change{.before = "8", .after = "6", .applied = false}}};
    const std::string text = written(run);
    EXPECT_NE(text.find("stays 8"), std::string::npos) << text;
    EXPECT_NE(text.find("8 -> 6 (not applied)"), std::string::npos) << text;
}

}  // namespace
