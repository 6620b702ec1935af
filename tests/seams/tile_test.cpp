// SPDX-License-Identifier: BSL-1.0
// A toy program adds a setting and a knob of its own from outside the scheduler.
#include <quern/quern.hpp>
#include <quern/scheduler/knobs.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

std::atomic<std::uint32_t> g_tile{64};

constexpr quern::setting k_settings[] = {{.name = "tile",
                                          .owner = "heat",
                                          .type = quern::setting_type::number,
                                          .least = 1,
                                          .most = 4096,
                                          .fallback = "64",
                                          .help = "points of a tile"}};
constexpr quern::knob k_knobs[] = {
    {.name = "tile",
     .owner = "heat",
     .unit = "points",
     .help = "points of a tile",
     .least = 1,
     .most = 4096,
     .get = [](const quern::detail::pool&) noexcept { return g_tile.load(); },
     .set = [](quern::detail::pool&, std::uint32_t n) noexcept { return g_tile = n; }}};

const bool k_registered = [] {
    quern::register_settings(k_settings);
    quern::register_knobs(k_knobs);
    return true;
}();

quern::setting named(std::string_view name) {
    quern::setting row;
    row.name = name;
    row.owner = "toy";
    row.help = "a toy's";
    return row;
}

std::string error_of(void (*f)()) {
    try {
        f();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

// Holds: settings: register_settings(): a program's settings are options, variables and parts of
//     the help like all others, with the same checks.
TEST(tile, is_a_setting_like_all_others) {
    ASSERT_TRUE(k_registered);
    EXPECT_EQ(quern::current_settings().number("tile"), 64U);
    EXPECT_NE(quern::settings_help().find("--quern:tile=VALUE\n      points of a tile"),
              std::string::npos);

    ASSERT_EQ(::setenv("QUERN_TILE", "32", 1), 0);
    EXPECT_EQ(quern::current_settings().at("tile").origin, "environment QUERN_TILE");

    char program[] = "prog", option[] = "--quern:tile=16";
    std::array<char*, 3> argv{program, option, nullptr};
    int argc = 2;
    EXPECT_TRUE(quern::take_command_line(argc, argv.data()));
    EXPECT_EQ(argc, 1);
    EXPECT_EQ(quern::current_settings().number("tile"), 16U);
    ::unsetenv("QUERN_TILE");
}

// Holds: settings: register_settings(): a program's settings...
TEST(tile, is_refused_when_it_is_out_of_range) {
    EXPECT_EQ(error_of([] { quern::set_setting("tile", "0", "option -t"); }),
              "quern: tile is '0' (option -t); accepted: a whole number from 1 to 4096");
    EXPECT_NE(error_of([] { quern::set_setting("tiles", "1"); }).find("did you mean 'tile'?"),
              std::string::npos);
}

// Holds: settings: register_knobs(): a program's knob begins as the setting of its name says, and
//     keeps within its range.
TEST(tile, is_a_knob_that_begins_as_the_setting_says) {
    quern::set_setting("tile", "48");
    const quern::runtime rt(quern::runtime_options::with_workers(1));
    const unsigned at_first = quern::current_settings().number("tile").value_or(0);
    EXPECT_EQ(rt.default_pool().knob("tile"), at_first);
    EXPECT_EQ(rt.default_pool().set_knob("tile", 5000), 4096U);
    EXPECT_EQ(g_tile, 4096U);
    EXPECT_EQ(rt.default_pool().set_knob("tile", 0), 1U);
}

// Holds: settings: register_settings(): std::invalid_argument for a name that is taken or cannot be
//     spelt, and a number without a range.
TEST(register_settings, refuses_a_name_that_is_taken_or_cannot_be_spelt) {
    EXPECT_EQ(error_of([] { quern::register_settings(k_settings); }),
              "quern: there is a setting 'tile' already");
    EXPECT_EQ(error_of([] {
                  const quern::setting bad = named("My tile");
                  quern::register_settings({&bad, 1});
              }),
              "quern: a setting cannot be called 'My tile'; accepted: a-z, 0-9, - and _");
    EXPECT_EQ(error_of([] {
                  quern::setting bad = named("none");
                  bad.type = quern::setting_type::number;
                  bad.least = 2;
                  quern::register_settings({&bad, 1});
              }),
              "quern: setting 'none' accepts no number: its least is 2, its most 0");
    EXPECT_FALSE(quern::current_settings().has("none"));
}

// Holds: settings: register_knobs(): std::invalid_argument for a name that is taken, an empty
//     range, and missing functions.
TEST(register_knobs, refuses_a_name_that_is_taken_and_rows_that_cannot_be_set) {
    EXPECT_EQ(error_of([] { quern::register_knobs(k_knobs); }),
              "quern: there is a knob 'tile' already");
    EXPECT_EQ(error_of([] {
                  quern::knob bad;
                  bad.name = "blank";
                  quern::register_knobs({&bad, 1});
              }),
              "quern: knob 'blank' needs a name, a range that is not empty, and functions to get "
              "and set it");
}

// Holds: settings: Settings that were read before a registration do not know it.
TEST(settings, read_before_a_registration_do_not_know_it) {
    const quern::settings before;
    quern::setting late = named("late");
    late.type = quern::setting_type::text;
    quern::register_settings({&late, 1});
    EXPECT_FALSE(before.has("late"));
    EXPECT_THROW((void)before.at("late"), quern::bad_setting);
    EXPECT_EQ(before.rows().size() + 1, quern::settings().rows().size());
    EXPECT_EQ(quern::current_settings().at("late").text, "");
}

}  // namespace
