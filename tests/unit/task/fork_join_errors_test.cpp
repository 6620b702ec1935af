// SPDX-License-Identifier: BSL-1.0
// fork_join and exceptions: which one is thrown, which functions have run by then, and exceptions
// in flight while a task waits.
#include <quern/task/fork_join.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <memory>
#include <stdexcept>
#include <string>

namespace {

using quern::fork_join;
using quern_test::let_others_run;
using quern_test::spin_gate;

class fork_join_errors : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(fork_join_errors);

template <class F>
std::string error_of(F&& f) {
    try {
        f();
    } catch (const std::exception& e) {
        return e.what();
    }
    return "none";
}

[[noreturn]] void fail(const char* text) { throw std::runtime_error(text); }

// Holds: fork_join: Throws the exception of g, else that of f.
TEST_P(fork_join_errors, of_either_function_come_out) {
    inside([] {
        EXPECT_EQ(error_of([] { fork_join([] { fail("f"); }, [] {}); }), "f");
        EXPECT_EQ(error_of([] { fork_join([] {}, [] { fail("g"); }); }), "g");
    });
}

// Holds: fork_join: Throws the exception of...
TEST_P(fork_join_errors, of_both_functions_leave_that_of_g) {
    inside([] {
        for (int i = 0; i < 100; ++i) {
            ASSERT_EQ(error_of([] { fork_join([] { fail("f"); }, [] { fail("g"); }); }), "g");
        }
    });
}

// Holds: fork_join: When g throws and f has not begun, f is dropped.
TEST_P(fork_join_errors, of_g_drop_f_when_nobody_else_can_have_begun_it) {
    if (workers() != 1) {
        GTEST_SKIP() << "f may have been stolen";
    }
    inside([] {
        bool f_ran = false;
        EXPECT_EQ(error_of([&] { fork_join([&] { f_ran = true; }, [] { fail("g"); }); }), "g");
        EXPECT_FALSE(f_ran);
    });
}

// Holds: fork_join: Returns when both are...
// Holds: fork_join: Both functions have ended when the exception leaves.
TEST_P(fork_join_errors, of_g_wait_for_f_when_it_was_stolen) {
    if (!has_thieves()) {
        GTEST_SKIP() << "needs a thief";
    }
    inside([] {
        for (int i = 0; i < 20; ++i) {
            spin_gate begun;
            int value = 0;  // plain: the parent must not continue before f has ended
            const auto f = [&] {
                begun.open();
                quern_test::spin_for(std::chrono::microseconds(200));
                value = 1;
                fail("f");
            };
            EXPECT_EQ(error_of([&] {
                          fork_join(f, [&] {
                              begun.pass();
                              fail("g");
                          });
                      }),
                      "g");
            EXPECT_EQ(value, 1);
        }
    });
}

// Holds: fork_join: An exception of a stolen f comes out.
TEST_P(fork_join_errors, of_a_stolen_f_come_out_when_g_succeeds) {
    if (!has_thieves()) {
        GTEST_SKIP() << "needs a thief";
    }
    inside([] {
        for (int i = 0; i < 20; ++i) {
            spin_gate begun;
            const auto f = [&]() -> std::unique_ptr<int> {
                begun.open();
                fail("f");
            };
            const auto g = [&] {
                begun.pass();
                return std::make_shared<int>(1);  // destroyed during unwinding
            };
            ASSERT_EQ(error_of([&] { fork_join(f, g); }), "f");
        }
    });
}

int throw_at_leaf(int depth, int leaf) {
    if (depth == 0) {
        if (leaf == 0) {
            fail("leaf");
        }
        return 1;
    }
    const int half = 1 << (depth - 1);
    const auto [f, g] = fork_join([=] { return throw_at_leaf(depth - 1, leaf); },
                                  [=] { return throw_at_leaf(depth - 1, leaf - half); });
    return f + g;
}

TEST_P(fork_join_errors, travel_up_a_tree) {
    inside([] {
        for (int leaf = 0; leaf < 64; ++leaf) {
            ASSERT_EQ(error_of([=] { throw_at_leaf(6, leaf); }), "leaf") << leaf;
        }
        EXPECT_EQ(throw_at_leaf(6, 64), 64);
    });
}

// Holds: fork_join: Exceptions that are being handled stay with the task when it moves.
TEST_P(fork_join_errors, being_handled_survive_a_suspension) {
    inside([] {
        for (int i = 0; i < 50; ++i) {
            const std::string text = "in flight " + std::to_string(i);
            EXPECT_EQ(error_of([&] {
                          try {
                              fail(text.c_str());
                          } catch (...) {
                              let_others_run();
                              EXPECT_EQ(error_of([] { throw std::logic_error("inner"); }), "inner");
                              fork_join([] { let_others_run(); }, [] { let_others_run(); });
                              throw;
                          }
                      }),
                      text);
        }
    });
}

// Holds: fork_join: Exceptions that are being...
TEST_P(fork_join_errors, being_handled_follow_the_task_to_another_worker) {
    if (workers() == 1) {
        GTEST_SKIP() << "needs another worker";
    }
    const auto rethrow_elsewhere = [](int i) {
        const std::string text = "travels " + std::to_string(i);
        EXPECT_EQ(error_of([&] {
                      try {
                          fail(text.c_str());
                      } catch (...) {
                          EXPECT_TRUE(quern_test::move_to_another_worker());
                          throw;
                      }
                  }),
                  text);
        EXPECT_EQ(std::current_exception(), nullptr);
    };
    inside([&] {
        for (int i = 0; i < 10; ++i) {
            fork_join([&] { rethrow_elsewhere(i); }, [&] { rethrow_elsewhere(-i); });
        }
    });
}

// Holds: fork_join: Exceptions come to the thread outside that called it.
TEST(fork_join_errors_from_outside, come_out_on_the_calling_thread) {
    EXPECT_EQ(error_of([] { fork_join([] { fail("f"); }, [] {}); }), "f");
    EXPECT_EQ(error_of([] { fork_join([] {}, [] { fail("g"); }); }), "g");
}

}  // namespace
