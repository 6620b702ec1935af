// SPDX-License-Identifier: BSL-1.0
// The floating-point unit across a switch: the rounding mode belongs to the stack, the sticky flags
// to the thread, because reloading them would cost more than the switch.
#include "side_stack.hpp"

#include <gtest/gtest.h>

#include <cfenv>

namespace {

using quern_test::side_stack;

/// 1/3 in the present rounding mode; differs in the last bit between modes.
double third() {
    volatile double one = 1.0;
    volatile double three = 3.0;
    return one / three;
}

class floating_point : public testing::Test {
protected:
    ~floating_point() override { std::fesetround(FE_TONEAREST); }
};

TEST_F(floating_point, rounding_of_a_stack_does_not_leak_out) {
    const double nearest = third();
    side_stack side([&](side_stack& self) {
        std::fesetround(FE_UPWARD);
        self.leave();
    });
    side.enter();
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    EXPECT_EQ(third(), nearest);
    side.enter();
}

TEST_F(floating_point, rounding_is_kept_while_others_run) {
    double before = 0, after = 0;
    side_stack up([&](side_stack& self) {
        std::fesetround(FE_UPWARD);
        before = third();
        self.leave();
        after = third();
    });
    side_stack down([](side_stack& self) {
        std::fesetround(FE_DOWNWARD);
        self.leave();
        EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
    });
    up.enter();
    down.enter();
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    up.enter();
    down.enter();
    EXPECT_EQ(before, after);
    EXPECT_GT(after, third());
}

TEST_F(floating_point, rounding_of_the_thread_survives_a_visit) {
    std::fesetround(FE_TOWARDZERO);
    side_stack side([](side_stack&) { std::fesetround(FE_UPWARD); });
    side.enter();
    EXPECT_EQ(std::fegetround(), FE_TOWARDZERO);
}

TEST_F(floating_point, sticky_flags_are_not_reloaded) {
    std::feclearexcept(FE_ALL_EXCEPT);
    side_stack side([](side_stack& self) {
        volatile double zero = 0.0;
        volatile double one = 1.0;
        volatile double infinite = one / zero;
        (void)infinite;
        self.leave();
        EXPECT_TRUE(std::fetestexcept(FE_INEXACT));  // raised by the other side meanwhile
    });
    side.enter();
    EXPECT_TRUE(std::fetestexcept(FE_DIVBYZERO));
    (void)third();
    side.enter();
    EXPECT_TRUE(std::fetestexcept(FE_DIVBYZERO));
}

}  // namespace
