// SPDX-License-Identifier: BSL-1.0
// Stop tokens: tasks that have not begun are dropped and say so, those that run see the request,
// whoever waits goes on. Loops: tests/unit/algorithms/cancellation_test.cpp.
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
using quern_test::door;
using quern_test::eventually;
using quern_test::let_others_run;

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

class stopped_task : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(stopped_task);

TEST_P(stopped_task, that_has_not_begun_never_does) {
    std::stop_source source;
    source.request_stop();
    bool ran = false;
    const auto body = [&ran] { ran = true; };
    for (const auto how : {quern::launch::async, quern::launch::fork, quern::launch::deferred,
                           quern::launch::sync}) {
        inside([&] {
            auto f = async({.how = how, .stop = source.get_token()}, body);
            EXPECT_EQ(error_of([&] { f.get(); }), "quern: a task was cancelled");
        });
    }
    EXPECT_FALSE(ran);
}

TEST_P(stopped_task, is_dropped_when_its_turn_comes) {
    if (workers() != 1) {
        GTEST_SKIP() << "which tasks have begun is left to chance";
    }
    inside([] {
        std::stop_source source;
        std::vector<quern::future<int>> futures;
        for (int i = 0; i < 100; ++i) {
            futures.push_back(async({.stop = source.get_token()}, [i] { return i; }));
        }
        EXPECT_EQ(futures[7].get(), 7);
        source.request_stop();
        for (auto& f : futures) {
            if (f.valid()) {
                EXPECT_THROW(f.get(), task_cancelled);
            }
        }
    });
}

TEST_P(stopped_task, names_itself_in_the_error) {
    std::stop_source source;
    source.request_stop();
    auto f = async({.name = "norm", .pool = &rt.default_pool().get(), .stop = source.get_token()},
                   [] {});
    EXPECT_EQ(error_of([&] { f.get(); }), "quern: the task 'norm' was cancelled");
}

TEST_P(stopped_task, gives_its_closure_back_before_its_future_is_ready) {
    std::stop_source source;
    source.request_stop();
    auto held = std::make_shared<int>(1);
    inside([&] {
        auto f = async({.stop = source.get_token()}, [held] {});
        f.wait();
        EXPECT_EQ(held.use_count(), 1);
        EXPECT_TRUE(f.has_exception());
    });
}

TEST_P(stopped_task, that_runs_sees_the_request_and_goes_on) {
    std::stop_source source;
    door begun;
    auto f = async({.pool = &rt.default_pool().get(), .stop = source.get_token()}, [&begun] {
        const bool before = stop_requested();
        begun.open();
        await_stop();
        return !before && quern::this_task::stop_token().stop_requested();
    });
    begun.pass();
    source.request_stop();
    EXPECT_TRUE(f.get());
}

TEST_P(stopped_task, wakes_those_who_wait_in_any_way) {
    if (workers() != 1) {
        GTEST_SKIP() << "needs a worker that is kept busy";
    }
    std::stop_source source;
    door leave, entered;
    auto* pool = &rt.default_pool().get();
    auto busy = async({.pool = pool}, [&] {
        entered.open();
        leave.pass();
    });
    entered.pass();  // the only worker: nothing else begins now
    auto shared = async({.pool = pool, .stop = source.get_token()}, [] {}).share();
    auto in_task = async({.pool = pool}, [shared] { return error_of([&] { shared.get(); }); });
    auto after = shared.then({.pool = pool}, [](auto f) { return error_of([&] { f.get(); }); });
    source.request_stop();
    leave.open();
    EXPECT_EQ(error_of([&] { shared.get(); }), "quern: a task was cancelled");
    EXPECT_EQ(in_task.get(), "quern: a task was cancelled");
    EXPECT_EQ(after.get(), "quern: a task was cancelled");
    busy.get();
}

TEST_P(stopped_task, of_post_is_dropped_with_what_it_holds) {
    std::stop_source source;
    source.request_stop();
    auto held = std::make_shared<bool>(false);
    quern::post({.pool = &rt.default_pool().get(), .stop = source.get_token()},
                [held] { *held = true; });
    EXPECT_TRUE(eventually([&] { return held.use_count() == 1; }));
    EXPECT_FALSE(*held);
}

TEST_P(stopped_task, of_then_and_dataflow_is_dropped_when_its_input_has_come) {
    std::stop_source source;
    inside([&] {
        bool ran = false;
        const quern::task_attributes queued{.stop = source.get_token()};
        const quern::task_attributes in_place{.how = quern::launch::sync,
                                              .stop = source.get_token()};
        quern::promise<int> input;
        auto shared = input.get_future().share();
        const auto body = [&ran](auto&&...) { ran = true; };
        auto a = shared.then(queued, body);
        auto b = shared.then(in_place, body);
        auto c = quern::dataflow(queued, body, shared, 1);
        auto d = quern::dataflow(in_place, body, shared, 1);
        source.request_stop();
        EXPECT_FALSE(a.is_ready());
        input.set_value(1);
        for (auto* f : {&a, &b, &c, &d}) {
            EXPECT_THROW(f->get(), task_cancelled);
        }
        EXPECT_FALSE(ran);
    });
}

TEST_P(stopped_task, of_start_is_dropped_and_a_coroutine_that_runs_sees_the_request) {
    const auto body = [](quern::promise<void>& begun,
                         quern::shared_future<void> go_on) -> quern::task<bool> {
        const bool before = stop_requested();
        begun.set_value();
        co_await go_on;  // afterwards on another stack
        co_return !before && stop_requested();
    };
    std::stop_source source;
    quern::promise<void> begun, unused, go_on;
    auto go_on_future = go_on.get_future().share();
    const quern::task_attributes how{.pool = &rt.default_pool().get(), .stop = source.get_token()};
    auto runs = quern::start(how, body(begun, go_on_future));
    begun.get_future().get();
    source.request_stop();
    auto dropped = quern::start(how, body(unused, go_on_future));
    EXPECT_THROW(dropped.get(), task_cancelled);
    go_on.set_value();
    EXPECT_TRUE(runs.get());
}

TEST_P(stopped_task, does_not_hand_its_token_to_tasks_that_it_starts_or_runs_in_between) {
    std::stop_source source;
    inside([&] {
        async({.stop = source.get_token()}, [&source] {
            source.request_stop();
            EXPECT_FALSE(async([] { return stop_requested(); }).get());  // perhaps on this stack
            EXPECT_FALSE(async(quern::launch::sync, [] { return stop_requested(); }).get());
            EXPECT_FALSE(async(quern::launch::deferred, [] { return stop_requested(); }).get());
            auto in_place = quern::make_ready_future(1).then(quern::launch::sync,
                                                             [](auto) { return stop_requested(); });
            EXPECT_FALSE(in_place.get());
            EXPECT_TRUE(stop_requested());
            let_others_run();
            EXPECT_TRUE(stop_requested());
        }).get();
        EXPECT_FALSE(stop_requested());
    });
}

TEST_P(stopped_task, keeps_its_token_on_a_fresh_stack_and_on_another_worker) {
    std::stop_source source;
    inside([&] {
        async({.stop = source.get_token()}, [&] {
            bool below = true;
            quern::detail::call_on_fresh_stack(
                [](void* p) { *static_cast<bool*>(p) = stop_requested(); }, &below);
            EXPECT_FALSE(below);
            if (workers() > 1) {
                EXPECT_TRUE(quern_test::move_to_another_worker());
            }
            source.request_stop();
            quern::detail::call_on_fresh_stack(
                [](void* p) { *static_cast<bool*>(p) = stop_requested(); }, &below);
            EXPECT_TRUE(below);
        }).get();
    });
}

TEST(a_thread_outside, has_no_token) {
    EXPECT_FALSE(quern::this_task::stop_token().stop_possible());
    EXPECT_FALSE(stop_requested());
}

class stopped_group : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(stopped_group);

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

TEST_P(stopped_group, gives_a_stopped_token_when_it_was_cancelled_before) {
    inside([] {
        task_group group;
        group.cancel();
        EXPECT_TRUE(group.stop_token().stop_requested());
        group.wait();
    });
}

TEST_P(stopped_group, asks_running_tasks_to_stop_when_one_throws) {
    if (!has_thieves()) {
        GTEST_SKIP() << "needs two tasks that run at once";
    }
    inside([] {
        task_group group;
        door begun;
        group.run([&begun] {
            begun.open();
            await_stop();  // or the test takes for ever
        });
        group.run([&begun] {
            begun.pass();
            throw std::runtime_error("task");
        });
        EXPECT_EQ(error_of([&] { group.wait(); }), "another: task");
    });
}

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
                        source.request_stop();  // the group's token may learn of it a little later
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

TEST_P(stopped_scope, shows_its_children_the_token_of_the_task_around_wherever_they_run) {
    std::stop_source source;
    std::atomic<int> saw{0};
    inside([&] {
        async({.stop = source.get_token()}, [&] {
            source.request_stop();
            quern::scope([&](quern::fork_scope& s) {  // does not stop by itself
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

TEST_P(stopped_scope, asks_running_children_to_stop_when_one_throws) {
    if (!has_thieves()) {
        GTEST_SKIP() << "needs two children that run at once";
    }
    inside([] {
        door begun;
        const auto body = [&](quern::fork_scope& s) {
            s.spawn([&begun] {
                begun.open();
                await_stop();  // or the test takes for ever
            });
            begun.pass();
            throw std::runtime_error("body");
        };
        EXPECT_EQ(error_of([&] { quern::scope(body); }), "another: body");
    });
}

}  // namespace
