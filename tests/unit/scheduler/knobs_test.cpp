// SPDX-License-Identifier: BSL-1.0
// Knobs by name: reading, writing, ranges, and the error for an unknown name.
#include <quern/scheduler/knobs.hpp>

#include "on_runtime.hpp"

#include <stdexcept>
#include <string>

namespace {

class knobs_test : public quern_test::on_runtime {};
QUERN_ON_1_2_8_WORKERS(knobs_test);

// Holds: pool_ref: knob() gives what set_knob() has set.
TEST_P(knobs_test, give_what_was_set) {
    const quern::pool_ref pool = rt.default_pool();
    EXPECT_EQ(pool.set_knob("spin-us", 7), 7U);
    EXPECT_EQ(pool.knob("spin-us"), 7U);
    EXPECT_EQ(pool.knob("active-workers"), workers());
    EXPECT_EQ(pool.set_knob("active-workers", 1), 1U);
    EXPECT_EQ(pool.active_workers(), 1U);
}

// Holds: pool_ref: set_knob() brings the value into the knob's range and returns what was set.
TEST_P(knobs_test, keep_within_their_range) {
    const quern::pool_ref pool = rt.default_pool();
    EXPECT_EQ(pool.set_knob("active-workers", 0), 1U);
    EXPECT_EQ(pool.set_knob("active-workers", 1000), workers());
    EXPECT_EQ(pool.set_knob("spin-us", 2'000'000), 1'000'000U);
    EXPECT_EQ(pool.set_knob("spin-us", 0), 0U);
    EXPECT_EQ(pool.set_knob("steal-batch", 5'000), 4'096U);
    EXPECT_EQ(pool.set_knob("steal-batch", 0), 0U);
    EXPECT_EQ(pool.set_knob("wake-fanout", 0), 1U);
    EXPECT_EQ(pool.set_knob("wake-fanout", 1'000), 64U);
    EXPECT_EQ(pool.set_knob("wake-fanout", 2), 2U);
    inside([] {});
}

TEST_P(knobs_test, begin_as_the_options_say) {
    quern::runtime_options options = quern::runtime_options::with_workers(workers());
    options.pools.front().steal_batch = 16;
    const quern::runtime other(options);
    EXPECT_EQ(other.default_pool().knob("steal-batch"), 16U);
    EXPECT_EQ(rt.default_pool().knob("steal-batch"), 0U);
}

TEST_P(knobs_test, have_a_name_and_a_help_text) {
    for (const quern::knob& k : quern::all_knobs()) {
        EXPECT_FALSE(k.help.empty()) << k.name;
        EXPECT_EQ(&quern::detail::find_knob(k.name), &k);
    }
}

// Holds: pool_ref: knob() and set_knob() throw std::invalid_argument for an unknown name, with the
//     nearest one.
TEST_P(knobs_test, of_an_unknown_name_are_refused_with_the_nearest_one) {
    try {
        rt.default_pool().set_knob("spin_ms", 1);
        FAIL() << "accepted";
    } catch (const std::invalid_argument& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("'spin_ms'"), std::string::npos) << text;
        EXPECT_NE(text.find("spin-us"), std::string::npos) << text;
        EXPECT_NE(text.find("active-workers"), std::string::npos) << text;
    }
    EXPECT_THROW(rt.default_pool().knob(""), std::invalid_argument);
}

}  // namespace
