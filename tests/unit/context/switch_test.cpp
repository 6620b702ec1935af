// SPDX-License-Identifier: BSL-1.0
// Switching stacks: to and fro, in any order, from several threads, and with exceptions in flight
// on each of the stacks.
#include "side_stack.hpp"

#include <gtest/gtest.h>

#include <unistd.h>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using quern_test::side_stack;

TEST(stack_switch, runs_the_function_up_to_where_it_leaves) {
    std::vector<int> order;
    side_stack side([&](side_stack& self) {
        order.push_back(1);
        self.leave();
        order.push_back(3);
    });
    side.enter();
    order.push_back(2);
    EXPECT_FALSE(side.ended());
    side.enter();
    EXPECT_TRUE(side.ended());
    EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

TEST(stack_switch, keeps_local_variables_over_many_switches) {
    constexpr long k_switches = 1'000;
    long seen = 0;
    side_stack side([&](side_stack& self) {
        volatile long a = 1;
        double b = 0.5;
        std::string c = "kept";
        for (long i = 0; i < k_switches; ++i) {
            a = a + 1;
            b += 1.0;
            self.leave();
            ASSERT_EQ(c, "kept");
            ASSERT_EQ(b, static_cast<double>(i) + 1.5);
        }
        seen = a;
    });
    while (!side.ended()) {
        side.enter();
    }
    EXPECT_EQ(seen, k_switches + 1);
}

TEST(stack_switch, allows_any_order_among_stacks) {
    std::string trace;
    const auto writer = [&trace](char c) {
        return [&trace, c](side_stack& self) {
            for (int i = 0; i < 3; ++i) {
                trace += c;
                self.leave();
            }
        };
    };
    side_stack a(writer('a')), b(writer('b'));
    for (side_stack* s : {&a, &b, &b, &a, &a, &b, &b, &a}) {
        s->enter();
    }
    EXPECT_TRUE(a.ended() && b.ended());
    EXPECT_EQ(trace, "abbaab");
}

TEST(stack_switch, nests) {
    std::string trace;
    side_stack inner([&](side_stack& self) {
        trace += "i1 ";
        self.leave();
        trace += "i2 ";
    });
    side_stack outer([&](side_stack& self) {
        trace += "o1 ";
        inner.enter();
        self.leave();
        inner.enter();
        trace += "o2 ";
    });
    outer.enter();
    outer.enter();
    EXPECT_EQ(trace, "o1 i1 i2 o2 ");
}

TEST(stack_switch, begins_afresh_after_a_restart) {
    int runs = 0;
    side_stack side([&](side_stack&) { ++runs; });
    side.enter();
    for (int i = 0; i < 100; ++i) {
        side.restart([&](side_stack& self) {
            ++runs;
            self.leave();
            ++runs;
        });
        side.enter();
        side.enter();
        ASSERT_TRUE(side.ended());
    }
    EXPECT_EQ(runs, 201);
}

TEST(stack_switch, lets_another_thread_go_on) {
    int value = 0;
    // Not std::this_thread::get_id(), which compilers assume to be constant within a function.
    pid_t first = 0, second = 0;
    side_stack side([&](side_stack& self) {
        first = ::gettid();
        value = 1;
        self.leave();
        second = ::gettid();
        value += 1;
    });
    side.enter();
    std::thread([&] { side.enter(); }).join();
    EXPECT_EQ(value, 2);
    EXPECT_NE(first, second);
}

TEST(exceptions, are_thrown_and_caught_within_a_stack) {
    std::string caught;
    side_stack side([&](side_stack&) {
        try {
            throw std::runtime_error("inside");
        } catch (const std::exception& e) {
            caught = e.what();
        }
    });
    side.enter();
    EXPECT_EQ(caught, "inside");
}

TEST(exceptions, stay_with_the_stack_whose_handler_left) {
    std::string rethrown;
    side_stack side([&](side_stack& self) {
        try {
            try {
                throw std::runtime_error("side");
            } catch (...) {
                self.leave();
                throw;
            }
        } catch (const std::exception& e) {
            rethrown = e.what();
        }
    });
    side.enter();
    EXPECT_EQ(std::current_exception(), nullptr);
    try {
        throw std::logic_error("own");
    } catch (...) {
        side.enter();
        EXPECT_EQ(rethrown, "side");
        EXPECT_THROW(throw, std::logic_error);
    }
}

TEST(exceptions, of_interleaved_handlers_do_not_mix) {
    constexpr int k_stacks = 4;
    std::vector<std::unique_ptr<side_stack>> sides;
    std::vector<int> seen(k_stacks, -1);
    for (int i = 0; i < k_stacks; ++i) {
        sides.push_back(std::make_unique<side_stack>([&seen, i](side_stack& self) {
            try {
                throw i;
            } catch (int) {
                self.leave();
                try {
                    throw;
                } catch (int again) {
                    self.leave();
                    seen[static_cast<std::size_t>(i)] = again;
                }
            }
        }));
    }
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < k_stacks; ++i) {  // another order in each round
            sides[static_cast<std::size_t>((i * 3 + round) % k_stacks)]->enter();
        }
    }
    EXPECT_EQ(seen, (std::vector{0, 1, 2, 3}));
}

TEST(exceptions, are_rethrown_on_the_thread_that_goes_on) {
    std::string caught;
    side_stack side([&](side_stack& self) {
        try {
            try {
                throw std::runtime_error("travels");
            } catch (...) {
                self.leave();
                throw;
            }
        } catch (const std::exception& e) {
            caught = e.what();
        }
    });
    side.enter();
    std::thread([&] { side.enter(); }).join();
    EXPECT_EQ(caught, "travels");
}

TEST(exceptions, that_unwind_may_leave_in_a_destructor) {
    struct leaves {
        side_stack& self;
        int& seen;
        ~leaves() {
            self.leave();
            seen = std::uncaught_exceptions();
        }
    };
    int seen = -1;
    side_stack side([&](side_stack& self) {
        try {
            const leaves at_end{self, seen};
            throw 1;
        } catch (int) {
        }
    });
    side.enter();
    EXPECT_EQ(std::uncaught_exceptions(), 0);
    side.enter();
    EXPECT_EQ(seen, 1);
    EXPECT_TRUE(side.ended());
}

}  // namespace
