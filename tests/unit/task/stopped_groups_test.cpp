// SPDX-License-Identifier: BSL-1.0
// Stop tokens of groups and scopes: tasks that have not begun are dropped, running ones see the
// request, and waiters get an exception. Single tasks: cancellation_test.cpp.
#include <quern/task/coroutine.hpp>
#include <quern/task/dataflow.hpp>
#include <quern/task/fork_join.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/scope.hpp>
#include <quern/task/stop.hpp>
#include <quern/task/task_group.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

namespace {

using quern::async;
using quern::task_cancelled;
using quern::task_group;
using quern::this_task::stop_requested;
using quern_test::eventually;
using quern_test::let_others_run;
using quern_test::spin_gate;

template <class F>
std::string error_of(F&& f) {
    try {
        f();
    } catch (const task_cancelled& e) {
        return e.what();
    } catch (const std::exception& e) {
        return std::string("another: ") + e.what();
    }
    return "none";
}

void await_stop() {
    while (!stop_requested()) {
        let_others_run();
    }
}

class stopped_group : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(stopped_group);

// Holds: task_group: stop_token() tells of cancel(), to its tasks and to others.
TEST_P(stopped_group, gives_a_token_that_its_tasks_see) {
    inside([] {
        task_group group;
        std::atomic<int> saw{0};
        for (int i = 0; i < 10; ++i) {
            group.run([&] {
                const auto mine = quern::this_task::stop_token();
                saw += !mine.stop_requested() && !stop_requested() ? 1 : 0;
            });
        }
        const std::stop_token token = group.stop_token();
        EXPECT_TRUE(token.stop_possible());
        group.wait();
        EXPECT_EQ(saw.load(), 10);
        EXPECT_FALSE(token.stop_requested());
        EXPECT_TRUE(group.request_stop());
        EXPECT_FALSE(group.request_stop());
        EXPECT_TRUE(token.stop_requested());
        EXPECT_TRUE(group.stop_token().stop_requested());
        group.wait();
        EXPECT_FALSE(group.stop_token().stop_requested());  // it begins again
        EXPECT_TRUE(token.stop_requested());
    });
}

// Holds: task_group: stop_token() tells of cancel()...
TEST_P(stopped_group, gives_a_stopped_token_when_it_was_cancelled_before) {
    inside([] {
        task_group group;
        group.cancel();
        EXPECT_TRUE(group.stop_token().stop_requested());
        group.wait();
    });
}

// Holds: stop tokens: stop_requested() says too that a sibling in the same group, scope or loop has
//     thrown.
// Holds: task_group: A task that throws asks the others to stop.
TEST_P(stopped_group, asks_running_tasks_to_stop_when_one_throws) {
    if (!has_thieves()) {
        GTEST_SKIP() << "needs two tasks that run at once";
    }
    inside([] {
        task_group group;
        spin_gate begun;
        group.run([&begun] {
            begun.open();
            await_stop();  // without a stop the test would not end
        });
        group.run([&begun] {
            begun.pass();
            throw std::runtime_error("task");
        });
        EXPECT_EQ(error_of([&] { group.wait(); }), "another: task");
    });
}

// Holds: task_group: With an outer token: wait() throws task_cancelled when that has been stopped.
TEST_P(stopped_group, throws_when_the_outer_token_has_stopped_it) {
    std::stop_source source;
    inside([&] {
        int ran = 0;
        task_group group(source.get_token());
        const std::stop_token own = group.stop_token();
        group.run([&ran] { ++ran; });
        group.wait();
        source.request_stop();
        EXPECT_TRUE(group.is_cancelled());
        EXPECT_TRUE(own.stop_requested());
        group.run([&ran] { ++ran; });
        EXPECT_EQ(error_of([&] { group.wait(); }), "quern: a group was cancelled");
        EXPECT_EQ(error_of([&] { group.wait(); }), "quern: a group was cancelled");
        EXPECT_EQ(ran, 1);
    });
}

// Holds: task_group: The exception of a task goes before task_cancelled of an outer token.
TEST_P(stopped_group, prefers_the_exception_of_a_task_to_its_own) {
    std::stop_source source;
    inside([&] {
        task_group group(source.get_token());
        group.run([&source] {
            source.request_stop();
            throw std::runtime_error("task");
        });
        EXPECT_EQ(error_of([&] { group.wait(); }), "another: task");
    });
}

// Holds: task_group: A task's own token concerns that task alone.
TEST_P(stopped_group, lets_a_task_have_a_token_of_its_own) {
    std::stop_source source;
    inside([&] {
        task_group group;
        bool dropped = true, others = false;
        source.request_stop();
        group.run({.stop = source.get_token()}, [&dropped] { dropped = false; });
        group.run([&others] { others = !stop_requested(); });
        group.wait();
        EXPECT_TRUE(dropped);
        EXPECT_TRUE(others);
        std::stop_source never;
        bool saw = false;
        group.run({.stop = never.get_token()}, [&] {
            group.cancel();
            saw = stop_requested() && !quern::this_task::stop_token().stop_requested();
        });
        group.wait();
        EXPECT_TRUE(saw);
    });
}

// Holds: task_group: cancel() and stop_token() may be called by any thread.
TEST_P(stopped_group, is_cancelled_and_asked_for_tokens_by_many_at_once) {
    inside([] {
        for (int round = 0; round < 50; ++round) {
            std::stop_source source;
            task_group group(source.get_token());
            std::atomic<int> wrong{0};
            for (int i = 0; i < 16; ++i) {
                group.run([&group, &source, &wrong, i] {
                    const auto token = quern::this_task::stop_token();
                    if (i % 5 == 0) {
                        source.request_stop();  // the group's token may see it a little later
                        wrong += stop_requested() ? 0 : 1;
                    } else {
                        group.cancel();
                        wrong += token.stop_requested() && stop_requested() ? 0 : 1;
                    }
                });
            }
            (void)error_of([&] { group.wait(); });
            ASSERT_EQ(wrong.load(), 0);
        }
    });
}

class stopped_scope : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(stopped_scope);

// Holds: scope: With a token: children that have not begun when its stop is requested are dropped,
//     and it throws task_cancelled.
TEST_P(stopped_scope, drops_children_and_throws) {
    std::stop_source source;
    std::atomic<int> ran{0};
    const auto body = [&](quern::fork_scope& s) {
        source.request_stop();
        for (int i = 0; i < 100; ++i) {
            s.spawn([&ran] { ran.fetch_add(1); });
        }
    };
    inside([&] {
        EXPECT_EQ(error_of([&] { quern::scope(source.get_token(), body); }),
                  "quern: a scope was cancelled");
    });
    EXPECT_EQ(ran.load(), 0);
}

// Holds: scope: A token that is never stopped changes nothing.
TEST_P(stopped_scope, that_nobody_stops_is_as_without_a_token) {
    std::stop_source source;
    std::atomic<int> ran{0};
    inside([&] {
        quern::scope(source.get_token(), [&](quern::fork_scope& s) {
            for (int i = 0; i < 100; ++i) {
                s.spawn(
                    [&] { ran += quern::this_task::stop_token() == source.get_token() ? 1 : 0; });
            }
        });
    });
    EXPECT_EQ(ran.load(), 100);
}

// Holds: stop tokens: Children of a scope see the token of the scope and of the task around,
//     wherever they run.
TEST_P(stopped_scope, shows_its_children_the_token_of_the_task_around_wherever_they_run) {
    std::stop_source source;
    std::atomic<int> saw{0};
    inside([&] {
        async({.stop = source.get_token()}, [&] {
            source.request_stop();
            quern::scope([&](quern::fork_scope& s) {  // has no stop of its own
                for (int i = 0; i < 100; ++i) {
                    s.spawn([&saw] {
                        quern_test::spin_for(std::chrono::microseconds(10));  // for thieves
                        saw += stop_requested() ? 1 : 0;
                    });
                }
            });
        }).get();
    });
    EXPECT_EQ(saw.load(), 100);
}

// Holds: stop tokens: stop_requested() says too that...
// Holds: scope: A child that throws asks the others to stop.
TEST_P(stopped_scope, asks_running_children_to_stop_when_one_throws) {
    if (!has_thieves()) {
        GTEST_SKIP() << "needs two children that run at once";
    }
    inside([] {
        spin_gate begun;
        const auto body = [&](quern::fork_scope& s) {
            s.spawn([&begun] {
                begun.open();
                await_stop();  // without a stop the test would not end
            });
            begun.pass();
            throw std::runtime_error("body");
        };
        EXPECT_EQ(error_of([&] { quern::scope(body); }), "another: body");
    });
}

}  // namespace
