// SPDX-License-Identifier: BSL-1.0
// Continuations: then in every form, long chains, unwrapping of nested futures, and promises that
// are kept by a thread outside.
#include <quern/task/async.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/when.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using quern::async;
using quern::future;
using quern::launch;
using quern::make_ready_future;
using quern::promise;
using quern::shared_future;
using quern_test::scaled;

class then_test : public quern_test::on_runtime {};
QUERN_ON_STEALING_POLICIES(then_test);  // long chains take minutes where each link wakes another

int plus_one(future<int> f) { return f.get() + 1; }

// Holds: then: When the result is there, f is called with this future, ready.
// Holds: then: The future is invalid after then().
TEST_P(then_test, gets_the_ready_future_and_leaves_this_one_invalid) {
    inside([] {
        auto f = async([] { return 1; });
        auto g = f.then([](future<int> ready) {
            EXPECT_TRUE(ready.is_ready());
            return ready.get() + 1;
        });
        EXPECT_FALSE(f.valid());
        EXPECT_EQ(g.get(), 2);
    });
}

// Holds: then: It returns the future of what f returns, of every kind.
TEST_P(then_test, delivers_results_of_every_kind) {
    inside([] {
        int place = 0;
        EXPECT_EQ(&async([] {})
                       .then([&](future<void> f) -> int& {
                           f.get();
                           return place;
                       })
                       .get(),
                  &place);
        async([] { return 1; }).then([](future<int>) {}).get();
        auto moved =
            async([] { return std::make_unique<int>(1); }).then([](auto f) { return f.get(); });
        EXPECT_EQ(*moved.get(), 1);
    });
}

// Holds: then: f is called too when the result is an exception.
// Holds: then: What f throws comes out of the future that then() returned.
TEST_P(then_test, is_called_also_when_the_task_has_thrown) {
    inside([] {
        auto f = async([]() -> int { throw std::runtime_error("task"); }).then([](future<int> g) {
            EXPECT_TRUE(g.has_exception());
            try {
                return g.get();
            } catch (const std::runtime_error&) {
                return -1;
            }
        });
        EXPECT_EQ(f.get(), -1);
        auto passed_on = async([]() -> int { throw std::runtime_error("task"); }).then(plus_one);
        EXPECT_THROW(passed_on.get(), std::runtime_error);
        auto own = async([] {}).then([](future<void>) { throw std::logic_error("then"); });
        EXPECT_THROW(own.get(), std::logic_error);
    });
}

// Holds: then: f runs in a task...
TEST_P(then_test, takes_launch_policies_and_attributes) {
    inside([] {
        EXPECT_EQ(async([] { return 1; }).then(launch::sync, plus_one).get(), 2);
        EXPECT_EQ(async([] { return 1; }).then(launch::async, plus_one).get(), 2);
        EXPECT_EQ(async([] { return 1; }).then({.urgency = quern::priority::high}, plus_one).get(),
                  2);
        EXPECT_EQ(make_ready_future(1).then(launch::sync, plus_one).get(), 2);
    });
}

// Holds: task_attributes: pool: the pool that runs it.
// Holds: then: f runs on the pool that the attributes name.
TEST_P(then_test, runs_on_the_pool_that_was_asked_for) {
    auto name = make_ready_future(1).then({.pool = &rt.default_pool().get()},
                                          [](future<int>) { return &quern::current_pool().get(); });
    EXPECT_EQ(name.get(), &rt.default_pool().get());
}

// Holds: shared_future: then() leaves it valid and may be called any number of times.
TEST_P(then_test, of_a_shared_future_may_be_called_many_times) {
    inside([] {
        shared_future<int> f = async([] { return 1; }).share();
        std::vector<future<int>> all;
        for (int i = 0; i < 100; ++i) {
            all.push_back(f.then([i](shared_future<int> g) { return g.get() + i; }));
        }
        EXPECT_TRUE(f.valid());
        for (int i = 0; i < 100; ++i) {
            EXPECT_EQ(all[static_cast<std::size_t>(i)].get(), i + 1);
        }
    });
}

// Holds: shared_future: then() without a state throws std::future_error(no_state).
// Holds: then: Without a state it throws std::future_error(no_state).
TEST_P(then_test, of_an_invalid_future_throws) {
    future<int> none;
    EXPECT_THROW((void)none.then(plus_one), std::future_error);
    const shared_future<int> also_none;
    EXPECT_THROW((void)also_none.then([](auto f) { return f.get(); }), std::future_error);
}

// Holds: then: f runs in a task of its own, or as the launch policy says.
TEST_P(then_test, runs_in_a_task_of_its_own_or_as_the_policy_says) {
    inside([] {
        const auto id = [](future<void>) { return quern::this_task::id(); };
        const auto own = quern::this_task::id();
        EXPECT_NE(make_ready_future().then(id).get(), own);
        bool ran = false;
        auto at_once = make_ready_future().then(launch::sync, [&ran](future<void>) { ran = true; });
        EXPECT_TRUE(ran);
        at_once.get();
    });
}

// Holds: then: What the producer did happens before f.
TEST_P(then_test, shows_the_function_what_was_done_before) {
    for (int i = 0; i < scaled(500, 100); ++i) {
        int data = 0;  // plain: ordered only by the chain
        auto f = async(rt, [&data] { ++data; });
        for (const launch how : {launch::async, launch::sync}) {
            f = f.then({.how = how, .pool = &rt.default_pool().get()},
                       [&data](future<void> before) {
                           before.get();
                           ++data;
                       });
        }
        f.get();
        ASSERT_EQ(data, 3);
    }
}

/// A chain of tasks that are all made before the first one may begin.
int run_chain(int length, launch how) {
    promise<int> first;
    future<int> last = first.get_future();
    for (int i = 0; i < length; ++i) {
        last = last.then(how, plus_one);
    }
    first.set_value(0);
    return last.get();
}

// Holds: then: A chain may have any length under every policy, on tasks and threads.
TEST_P(then_test, makes_long_chains) {
    const int length = scaled(100'000, 5'000);
    EXPECT_EQ(inside([length] { return run_chain(length, launch::async); }), length);
}

// Holds: then: A chain may have...
TEST_P(then_test, makes_long_chains_one_after_another) {
    const int length = scaled(100'000, 5'000);
    inside([length] {
        future<int> last = async([] { return 0; });
        for (int i = 0; i < length; ++i) {
            last = last.then(plus_one);
        }
        EXPECT_EQ(last.get(), length);
    });
}

// Holds: then: A promise that is broken is passed down the whole chain.
TEST_P(then_test, makes_chains_that_break_together) {
    const int length = scaled(10'000, 1'000);
    inside([length] {
        future<int> last;
        {
            promise<int> first;
            last = first.get_future();
            for (int i = 0; i < length; ++i) {
                last = last.then(plus_one);
            }
        }
        EXPECT_THROW(last.get(), std::future_error);
    });
}

class promise_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(promise_test);

// Holds: promise: The producer may be a thread that is no worker.
TEST_P(promise_test, may_be_kept_by_a_thread_outside) {
    for (int i = 0; i < 100; ++i) {
        promise<int> p;
        auto task = async(rt, [f = p.get_future()]() mutable { return f.get(); });
        std::thread([&p, i] { p.set_value(i); }).join();
        ASSERT_EQ(task.get(), i);
    }
}

// Holds: promise: Promise and future may...
TEST_P(promise_test, may_be_kept_by_a_task_for_a_thread_outside) {
    for (int i = 0; i < scaled(1'000, 200); ++i) {
        promise<int> p;
        auto f = p.get_future();
        quern::post({.pool = &rt.default_pool().get()}, [&p, i] { p.set_value(i); });
        ASSERT_EQ(f.get(), i);
        // The promise and the future are destroyed here, perhaps while set_value() is still
        // returning.
    }
}

// Holds: future: A task that waits...
// Holds: promise: Promise and future may...
TEST_P(promise_test, may_end_as_soon_as_the_waiting_task_goes_on) {
    inside([] {
        for (int i = 0; i < scaled(1'000, 200); ++i) {
            promise<int> p;
            auto f = p.get_future();
            quern::post([&p, i] { p.set_value(i); });
            ASSERT_EQ(f.get(), i);
        }
    });
}

// Holds: shared_future: Any number of tasks may wait.
TEST_P(promise_test, wakes_every_reader_of_a_shared_future) {
    promise<int> p;
    shared_future<int> f = p.get_future().share();
    std::vector<future<int>> tasks;
    for (int i = 0; i < 100; ++i) {
        tasks.push_back(async(rt, [f] { return f.get(); }));
    }
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([f] { EXPECT_EQ(f.get(), 5); });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    p.set_value(5);
    for (auto& t : tasks) {
        EXPECT_EQ(t.get(), 5);
    }
    for (std::thread& t : threads) {
        t.join();
    }
}

class nested_futures_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(nested_futures_test);

// Holds: future: A future of a future can become one that waits for the inner result too, however
//     deep.
TEST_P(nested_futures_test, waits_for_the_inner_future_too) {
    inside([] {
        future<int> flat = async([] { return async([] { return 3; }); });
        EXPECT_EQ(flat.get(), 3);
        future<void> nothing = async([] { return async([] {}); });
        nothing.get();
        future<int> thrice = future<future<int>>(
            async([] { return async([] { return async([] { return 4; }); }); }));
        EXPECT_EQ(thrice.get(), 4);
    });
}

// Holds: future: A future of nested futures is not ready before the inner one is.
TEST_P(nested_futures_test, is_not_ready_before_the_inner_future_is) {
    promise<future<int>> outer;
    promise<int> inner;
    future<int> flat(outer.get_future());
    EXPECT_FALSE(flat.is_ready());
    outer.set_value(inner.get_future());
    EXPECT_FALSE(flat.is_ready());
    inner.set_value(1);
    EXPECT_TRUE(flat.is_ready());
    EXPECT_EQ(flat.get(), 1);
}

// Holds: future: A future of nested futures throws what either throws, and broken_promise or
//     no_state when there is no inner one.
TEST_P(nested_futures_test, passes_exceptions_of_both_on) {
    inside([] {
        future<int> from_inner = async([] { return async([]() -> int { throw 1; }); });
        EXPECT_THROW(from_inner.get(), int);
        future<int> from_outer = async([]() -> future<int> { throw 1L; });
        EXPECT_THROW(from_outer.get(), long);
        future<int> of_none = async([] { return future<int>(); });
        EXPECT_THROW(of_none.get(), std::future_error);
        EXPECT_THROW(future<int>{future<future<int>>{}}, std::future_error);
    });
}

// Last, because it needs a stack whose size does not depend on the length of the chain.
// Holds: then: A chain may have...
TEST_P(then_test, makes_long_chains_of_functions_that_run_at_once) {
    const int length = scaled(100'000, 5'000);
    EXPECT_EQ(inside([length] { return run_chain(length, launch::sync); }), length);
}

/// A loop of futures: each step waits for the next one, so the whole is as deep as the number of
/// steps.
future<int> count_down(int left) {
    if (left == 0) {
        return make_ready_future(0);
    }
    return future<int>(async([left] { return count_down(left - 1); }));
}

// Holds: future: Chains of nested futures may have any length, on any thread.
TEST_P(then_test, unwraps_a_chain_of_any_length) {
    const int length = a_million();
    EXPECT_EQ(inside([&] { return count_down(length).get(); }), 0);
}

// Holds: future: Chains of nested futures...
TEST_P(then_test, unwraps_a_chain_of_any_length_outside) {
    const int length = a_million();
    std::vector<promise<future<int>>> links(static_cast<std::size_t>(length));
    std::vector<future<int>> flat;
    for (auto& link : links) {
        flat.emplace_back(link.get_future());
    }
    future<int> last = std::move(flat.back());
    for (std::size_t i = 0; i + 1 < links.size(); ++i) {
        links[i + 1].set_value(std::move(flat[i]));
    }
    links.front().set_value(make_ready_future(5));
    EXPECT_EQ(last.get(), 5);
}

// Holds: then: A chain may have...
TEST_P(then_test, runs_a_chain_of_sync_continuations_of_any_length_outside) {
    promise<int> first;
    future<int> last = first.get_future();
    const int length = a_million();
    const quern::task_attributes sync{.how = launch::sync, .pool = &rt.default_pool().get()};
    for (int i = 0; i < length; ++i) {
        last = last.then(sync, plus_one);
    }
    first.set_value(0);
    EXPECT_EQ(last.get(), length);
}

// Holds: then: A function that runs in place and waits there does not keep others waiting.
TEST_P(then_test, that_waits_in_place_does_not_keep_others_waiting) {
    inside([] {
        promise<int> source;
        promise<void> done;
        const auto go = done.get_future().share();
        auto value = source.get_future().share();
        auto blocked = value.then(launch::sync, [go](shared_future<int>) { go.wait(); });
        auto waiter = async([value, &done] {
            value.wait();
            done.set_value();  // without it the continuation never ends
        });
        auto queued = value.then([](shared_future<int> v) { return v.get(); });
        auto maker = async([&source] { source.set_value(3); });
        EXPECT_EQ(queued.get(), 3);
        waiter.get();
        blocked.get();
        maker.get();
    });
}

// Holds: then: A function that runs...
TEST_P(then_test, that_waits_in_place_does_not_keep_when_all_waiting) {
    inside([] {
        promise<int> source;
        promise<void> done;
        const auto go = done.get_future().share();
        auto value = source.get_future().share();
        auto blocked = value.then(launch::sync, [go](shared_future<int>) { go.wait(); });
        auto all = quern::when_all(value);
        auto maker = async([&source] { source.set_value(3); });
        all.get();
        done.set_value();
        blocked.get();
        maker.get();
    });
}

}  // namespace
