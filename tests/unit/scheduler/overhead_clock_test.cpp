// SPDX-License-Identifier: BSL-1.0
// Timed stretches: where they begin and end, and how long they are.
#include <quern/base/detail/clock.hpp>
#include <quern/scheduler/detail/overhead_clock.hpp>

#include <gtest/gtest.h>

namespace {

using quern::detail::k_counters;
using quern::detail::overhead_clock;

constexpr double k_piece_ns = 5'000;

void be_busy() {
    const auto begun = quern::detail::ticks();
    while (quern::detail::ticks() - begun < quern::detail::ticks_of_ns(k_piece_ns)) {
    }
}

double all_ns(const overhead_clock& clock) {
    return clock.read().all * quern::detail::ns_per_tick();
}

class overhead_clock_stretch : public testing::Test {
protected:
    void SetUp() override {
        if (!k_counters) {
            GTEST_SKIP() << "counters are compiled out";
        }
    }

    overhead_clock clock;
};

TEST_F(overhead_clock_stretch, has_two_pieces_around_a_body) {
    ASSERT_TRUE(clock.begins(overhead_clock::part::running)) << "the first one is timed";
    be_busy();
    const std::uint32_t weight = clock.ends(overhead_clock::next::user_code);
    ASSERT_EQ(weight, 1U);
    const double before = all_ns(clock);
    EXPECT_GE(before, 0.9 * k_piece_ns);
    be_busy();  // the body
    EXPECT_EQ(all_ns(clock), before);
    clock.resumes(weight);
    be_busy();
    EXPECT_EQ(clock.ends(overhead_clock::next::user_code), 1U);
    EXPECT_GE(all_ns(clock) - before, 0.9 * k_piece_ns);
}

TEST_F(overhead_clock_stretch, between_bodies_begins_after_a_body_and_ends_at_the_next) {
    clock.between_bodies();
    be_busy();
    const std::uint32_t weight = clock.ends(overhead_clock::next::user_code);  // a body begins
    ASSERT_EQ(weight, 1U);
    EXPECT_EQ(all_ns(clock), 0) << "what comes before the body is another stretch";
    clock.resumes(weight);
    be_busy();
    clock.between_bodies();
    be_busy();
    EXPECT_EQ(clock.ends(overhead_clock::next::user_code), 1U) << "the next one's turn has come";
    EXPECT_GE(all_ns(clock), 0.9 * 2 * k_piece_ns);
}

TEST_F(overhead_clock_stretch, that_waits_for_a_body_ends_where_the_work_ends) {
    clock.between_bodies();
    EXPECT_EQ(clock.ends(overhead_clock::next::user_code), 1U);
    EXPECT_EQ(clock.ends(overhead_clock::next::user_code), 0U);
    EXPECT_EQ(all_ns(clock), 0);
}

}  // namespace
