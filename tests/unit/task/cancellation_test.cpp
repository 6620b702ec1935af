// SPDX-License-Identifier: BSL-1.0
// Stop tokens: tasks that have not begun are dropped and report that, running ones see the request,
// waiters are woken. Groups and scopes: stopped_groups_test.cpp; loops:
// tests/unit/algorithms/cancellation_test.cpp.
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

class stopped_task : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(stopped_task);

// Holds: stop tokens: A task whose stop was requested before it has begun never does; its future
//     throws task_cancelled.
// Holds: stop tokens: A task that was...
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

// Holds: stop tokens: A task that was stopped before it has begun is dropped when its turn comes or
//     when a task or thread waits for it.
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

// Holds: stop tokens: The error names the task, if it has a name.
TEST_P(stopped_task, names_itself_in_the_error) {
    std::stop_source source;
    source.request_stop();
    auto f = async({.name = "norm", .pool = &rt.default_pool().get(), .stop = source.get_token()},
                   [] {});
    EXPECT_EQ(error_of([&] { f.get(); }), "quern: the task 'norm' was cancelled");
}

// Holds: stop tokens: What the closure of a dropped task holds is destroyed before the future is
//     ready.
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

// Holds: stop tokens: A running task sees the request and continues.
TEST_P(stopped_task, that_runs_sees_the_request_and_goes_on) {
    std::stop_source source;
    spin_gate begun;
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

// Holds: stop tokens: Waiters of every kind are woken.
TEST_P(stopped_task, wakes_those_who_wait_in_any_way) {
    if (workers() != 1) {
        GTEST_SKIP() << "needs a worker that is kept busy";
    }
    std::stop_source source;
    spin_gate leave, entered;
    auto* pool = &rt.default_pool().get();
    auto busy = async({.pool = pool}, [&] {
        entered.open();
        leave.pass();
    });
    entered.pass();  // the only worker: no other task begins now
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

// Holds: stop tokens: A task of post whose stop was requested before it has begun is dropped with
//     what it holds.
TEST_P(stopped_task, of_post_is_dropped_with_what_it_holds) {
    std::stop_source source;
    source.request_stop();
    auto held = std::make_shared<bool>(false);
    quern::post({.pool = &rt.default_pool().get(), .stop = source.get_token()},
                [held] { *held = true; });
    EXPECT_TRUE(eventually([&] { return held.use_count() == 1; }));
    EXPECT_FALSE(*held);
}

// Holds: stop tokens: A task of then or dataflow that was stopped is dropped when its input has
//     come.
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

// Holds: stop tokens: A coroutine of start is dropped before it has begun, and sees the request
//     when it has.
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

// Holds: stop tokens: Tasks that a task starts do not inherit its token.
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

// Holds: stop tokens: this_task::stop_token() and stop_requested() go with the task, to a fresh
//     stack and to another worker.
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

// Holds: stop tokens: On a thread that is no worker there is no token.
TEST(a_thread_outside, has_no_token) {
    EXPECT_FALSE(quern::this_task::stop_token().stop_possible());
    EXPECT_FALSE(stop_requested());
}

}  // namespace
