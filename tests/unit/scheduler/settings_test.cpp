// SPDX-License-Identifier: BSL-1.0
// The table of settings, and the value type that keeps the strongest value of each.
#include <quern/settings/settings.hpp>

#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/policy.hpp>

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

namespace {

using quern::setting;
using quern::setting_source;

// Holds: settings: Each row makes an option, a variable, and a text of what is accepted.
TEST(setting_table, has_names_that_make_options_and_variables) {
    std::set<std::string> variables;
    for (const setting& row : quern::setting_table()) {
        EXPECT_EQ(row.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_-"), std::string::npos);
        EXPECT_FALSE(row.help.empty());
        EXPECT_FALSE(row.accepted().empty());
        EXPECT_TRUE(variables.insert(row.variable()).second) << row.name;
    }
    EXPECT_EQ(quern::setting_table()[0].option(), "--quern:config");
    EXPECT_EQ(quern::setting_table()[0].variable(), "QUERN_CONFIG");
}

// Holds: settings: A default is always accepted, and is the one that the code has.
TEST(setting_table, accepts_its_own_defaults) {
    quern::settings all;
    for (const setting& row : quern::setting_table()) {
        if (!row.fallback.empty()) {
            EXPECT_NO_THROW(all.set(row.name, {std::string(row.fallback)})) << row.name;
        }
    }
}

// Holds: settings: A default is always...
// Holds: settings: number(): nothing while the value is a word.
TEST(setting_table, has_the_defaults_that_the_code_has) {
    const quern::settings all;
    EXPECT_EQ(all.at("policy").text, quern::scheduling_policies().front().name);
    EXPECT_EQ(all.number("spin-us"), quern::detail::knobs{}.spin_us.load());
    EXPECT_EQ(all.at("stack").text, "medium");
    EXPECT_EQ(quern::detail::pool_description{}.stacks, quern::stack_class::medium);
    EXPECT_EQ(all.number("threads"), std::nullopt);
    EXPECT_EQ(all.number("steal-batch"), std::nullopt);
    EXPECT_EQ(quern::detail::knobs{}.steal_batch.load(), 0U);  // as the policy says
}

TEST(setting_table, has_a_row_for_every_knob) {
    for (const quern::knob& each : quern::all_knobs()) {
        EXPECT_NO_THROW((void)quern::settings().number(each.name)) << each.name;
    }
}

// Holds: settings: set(): the stronger source stays, in whatever order they come.
TEST(settings, keep_the_strongest_value_in_any_order) {
    constexpr setting_source sources[] = {setting_source::file, setting_source::environment,
                                          setting_source::program, setting_source::command_line};
    for (const setting_source low : sources) {
        for (const setting_source high : sources) {
            if (low < high) {
                quern::settings rising, falling;
                rising.set("threads", {"2", low, "low"});
                rising.set("threads", {"3", high, "high"});
                falling.set("threads", {"3", high, "high"});
                falling.set("threads", {"2", low, "low"});
                EXPECT_EQ(rising.at("threads").origin, "high");
                EXPECT_EQ(falling.number("threads"), 3U);
            }
        }
    }
}

// Holds: settings: set(): of two from one source the last counts.
TEST(settings, take_the_last_of_two_values_from_one_source) {
    quern::settings all;
    all.set("threads", {"2", setting_source::file, "a"});
    all.set("threads", {"3", setting_source::file, "b"});
    EXPECT_EQ(all.at("threads").origin, "b");
}

// Holds: settings: set(): a bad value is an error, also when it would not count.
TEST(settings, check_a_value_that_would_not_count) {
    quern::settings all;
    all.set("threads", {"2", setting_source::command_line, "command line"});
    EXPECT_THROW(all.set("threads", {"0", setting_source::file, "file"}), std::invalid_argument);
    EXPECT_EQ(all.number("threads"), 2U);
}

// Holds: settings: at() and set(): std::invalid_argument for a name that is not in the table, with
//     the nearest match.
TEST(settings, of_unknown_names_are_errors) {
    try {
        (void)quern::settings().at("thraeds");
        FAIL() << "no exception";
    } catch (const std::invalid_argument& e) {
        EXPECT_EQ(e.what(),
                  std::string("quern: unknown setting 'thraeds'; did you mean 'threads'?"));
    }
}

}  // namespace
