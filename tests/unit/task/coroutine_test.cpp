// SPDX-License-Identifier: BSL-1.0
// quern::task: results, exceptions, lifetime, depth, and how start() runs it. Awaiting futures is
// in await_test.cpp.
#include <quern/task/coroutine.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/this_task.hpp>

#include "unit/scheduler/on_runtime.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace {

using quern::future;
using quern::promise;
using quern::start;
using quern::task;
using quern_test::scaled;

// Holds: task: It can be moved, without exceptions, and not copied.
TEST(coroutine_test_of_types, can_be_moved_and_not_copied) {
    EXPECT_FALSE(std::is_copy_constructible_v<task<int>>);
    EXPECT_FALSE(std::is_copy_assignable_v<task<int>>);
    EXPECT_TRUE(std::is_nothrow_move_constructible_v<task<int>>);
    EXPECT_TRUE(std::is_nothrow_move_assignable_v<task<int>>);
    EXPECT_FALSE(task<int>().valid());
}

class coroutine_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(coroutine_test);

task<int> twice(int x) { co_return 2 * x; }
task<int> four_times(int x) { co_return co_await twice(co_await twice(x)); }

// Holds: task: It gives a value, a reference or nothing.
// Holds: start: Returns the future of the coroutine's result.
TEST_P(coroutine_test, gives_a_value) {
    EXPECT_EQ(start(rt, twice(21)).get(), 42);
    EXPECT_EQ(start(rt, four_times(10)).get(), 40);
    EXPECT_EQ(inside([] { return start(four_times(10)).get(); }), 40);
}

// Holds: task: It gives a value...
TEST_P(coroutine_test, gives_nothing_or_a_reference_or_what_can_only_be_moved) {
    int x = 0;
    const auto nothing = [](int& to) -> task<void> {
        to = 1;
        co_return;
    };
    const auto reference = [](int& to) -> task<int&> { co_return to; };
    const auto moved = [](int value) -> task<std::unique_ptr<int>> {
        co_return std::make_unique<int>(value);
    };
    start(rt, nothing(x)).get();
    EXPECT_EQ(x, 1);
    EXPECT_EQ(&start(rt, reference(x)).get(), &x);
    EXPECT_EQ(*start(rt, moved(5)).get(), 5);
    const auto all = [&](int& y) -> task<int> {
        co_await nothing(y);
        int& same = co_await reference(y);
        same += *co_await moved(5);
        co_return y;
    };
    EXPECT_EQ(start(rt, all(x)).get(), 6);
}

// Holds: task: An exception that leaves it is thrown by co_await or get(), through every await.
// Holds: start: What the coroutine throws comes out of get().
TEST_P(coroutine_test, an_exception_travels_through_every_await) {
    const auto fails = []() -> task<int> {
        throw std::runtime_error("inner");
        co_return 0;
    };
    const auto passes_on = [&]() -> task<std::string> {
        co_return std::to_string(co_await fails());
    };
    const auto catches = [&]() -> task<std::string> {
        try {
            co_return co_await passes_on();
        } catch (const std::runtime_error& e) {
            co_return e.what();
        }
    };
    EXPECT_THROW(start(rt, passes_on()).get(), std::runtime_error);
    EXPECT_EQ(start(rt, catches()).get(), "inner");
}

// Holds: task: It begins when it is awaited or started, and not before.
// Holds: task: It is run once: valid() is false afterwards.
TEST_P(coroutine_test, begins_only_when_it_is_awaited_or_started) {
    int begun = 0;
    const auto counts = [&begun]() -> task<> {
        ++begun;
        co_return;
    };
    task<> t = counts();
    EXPECT_TRUE(t.valid());
    EXPECT_EQ(begun, 0);
    start(rt, std::move(t)).get();
    EXPECT_EQ(begun, 1);
    EXPECT_FALSE(t.valid());  // NOLINT(bugprone-use-after-move): the test's subject
}

// Holds: task: Destroying one that was never started, or has ended, frees its frame.
// Holds: start: Dropping the future does not stop it.
TEST_P(coroutine_test, frees_its_frame_whether_it_ran_or_not) {
    const auto witness = std::make_shared<int>(1);
    const auto holds = [](std::shared_ptr<int> w) -> task<int> { co_return *w; };
    { const task<int> never = holds(witness); }
    EXPECT_EQ(witness.use_count(), 1);
    {
        task<int> replaced = holds(witness);
        replaced = holds(witness);
        EXPECT_EQ(witness.use_count(), 2);
    }
    EXPECT_EQ(witness.use_count(), 1);
    {
        future<int> f = start(rt, holds(witness));
        EXPECT_EQ(f.get(), 1);
    }
    EXPECT_EQ(witness.use_count(), 1);
    (void)start(rt, holds(witness));  // without a waiter
    EXPECT_TRUE(quern_test::eventually([&] { return witness.use_count() == 1; }));
}

task<std::size_t> length_later(const std::string& text) {
    co_await quern::async([] {});
    co_return text.size();
}

// Holds: start: With a function and its arguments it keeps copies of them until the coroutine has
//     ended, so they may be temporaries.
TEST_P(coroutine_test, start_keeps_the_function_and_its_arguments) {
    const quern::task_attributes there{.pool = &rt.default_pool().get()};
    const std::string text(100, 'a');
    EXPECT_EQ(start(there, length_later, text + 'b').get(), 101U);
    future<std::string> twice_text = start(
        there,
        [prefix = text](std::unique_ptr<std::string> rest) -> task<std::string> {
            co_await quern::async([] {});
            co_return prefix + *rest;
        },
        std::make_unique<std::string>(text));
    EXPECT_EQ(twice_text.get(), text + text);
    int number = 1;
    const auto same = [](int& i) -> task<int&> { co_return i; };
    EXPECT_EQ(&start(there, same, std::ref(number)).get(), &number);
    const auto throws = [&number]() -> task<> {
        ++number;
        throw std::runtime_error("end");
        co_return;
    };
    EXPECT_THROW(start(throws).get(), std::runtime_error);
    EXPECT_EQ(number, 2);
}

// Holds: start: What it keeps is destroyed before the future is ready.
TEST_P(coroutine_test, start_drops_what_it_keeps_before_the_future_is_ready) {
    const quern::task_attributes there{.pool = &rt.default_pool().get()};
    const auto witness = std::make_shared<int>(1);
    const auto holds = [](const std::shared_ptr<int>& w) -> task<int> { co_return *w; };
    EXPECT_EQ(start(there, holds, witness).get(), 1);
    EXPECT_EQ(witness.use_count(), 1);
}

// Holds: task: An empty one is refused with std::logic_error, by co_await and start.
// Holds: start: Throws std::logic_error for an empty task.
TEST_P(coroutine_test, an_empty_task_is_refused) {
    task<int> t = twice(1);
    const task<int> other = std::move(t);
    EXPECT_THROW((void)start(rt, std::move(t)), std::logic_error);  // NOLINT: moved from on purpose
    const auto awaits_nothing = []() -> task<int> { co_return co_await task<int>(); };
    EXPECT_THROW(start(rt, awaits_nothing()).get(), std::logic_error);
}

task<std::size_t> deep(std::size_t n) {
    if (n == 0) {
        co_return 0;
    }
    co_return 1 + co_await deep(n - 1);
}

// Holds: task: A task that awaits a task takes no stack, however long the chain.
TEST_P(coroutine_test, a_million_awaits_take_no_stack) {
    const int count = a_million();
    const auto depth = static_cast<std::size_t>(count);
    EXPECT_EQ(start(rt, deep(depth)).get(), depth);
    const auto one_after_the_other = [](int n) -> task<int> {
        int sum = 0;
        for (int i = 0; i < n; ++i) {
            sum += co_await twice(1);
        }
        co_return sum;
    };
    EXPECT_EQ(start(rt, one_after_the_other(count)).get(), 2 * count);
}

task<std::size_t> deep_and_late(std::size_t n, quern::shared_future<int> f) {
    if (n == 0) {
        co_return static_cast<std::size_t>(co_await f);
    }
    co_return 1 + co_await deep_and_late(n - 1, f);
}

// Holds: task: A chain that has waited at its end is ended without depth.
TEST_P(coroutine_test, a_million_are_ended_by_one_that_waited) {
    constexpr std::size_t k_depth = scaled(300'000, 20'000);
    promise<int> p;
    auto f = start(rt, deep_and_late(k_depth, p.get_future().share()));
    p.set_value(1);
    EXPECT_EQ(f.get(), k_depth + 1);
}

// Holds: start: Name, priority and stack hold whenever the coroutine is resumed.
TEST_P(coroutine_test, attributes_hold_after_every_wait) {
    promise<int> p;
    const auto asks = [](quern::shared_future<int> f) -> task<bool> {
        const auto fine = [] {
            return std::string(quern::this_task::name()) == "asker" &&
                   quern::this_task::get_priority() == quern::priority::high &&
                   quern::detail::current_context()->size() >= quern::stack_class::large;
        };
        const bool before = fine();
        co_await f;
        const bool after = fine();
        co_await twice(1);
        const bool all = before && after && fine();
        co_return all;
    };
    auto f = start({.name = "asker",
                    .urgency = quern::priority::high,
                    .stack = quern::stack_class::large,
                    .pool = &rt.default_pool().get()},
                   asks(p.get_future().share()));
    p.set_value(1);
    EXPECT_TRUE(f.get());
}

// Holds: task: get(), yield and whatever else waits may be used inside and suspends the stack.
TEST_P(coroutine_test, blocking_calls_suspend_its_stack) {
    const auto blocks = [](int i) -> task<int> {
        int sum = quern::async([i] { return i; }).get();
        quern::this_task::yield();
        co_await quern::async([] {});
        co_return sum + quern::async([] { return 1; }).get();
    };
    std::vector<future<int>> all;
    for (int i = 0; i < scaled(1'000, 100); ++i) {
        all.push_back(start(rt, blocks(i)));
    }
    for (int i = 0; i < scaled(1'000, 100); ++i) {
        ASSERT_EQ(all[static_cast<std::size_t>(i)].get(), i + 1);
    }
}

task<int> fib(int n) {
    if (n < 2) {
        co_return n;
    }
    future<int> one = start(fib(n - 1));
    const int other = co_await fib(n - 2);
    co_return co_await std::move(one) + other;
}

// Holds: start: Any number may run at once.
TEST_P(coroutine_test, many_at_once_in_a_tree) {
    EXPECT_EQ(start(rt, fib(scaled(18, 12))).get(), scaled(2'584, 144));
}

// Holds: start: It counts as one task.
TEST_P(coroutine_test, counts_as_one_task) {
    const auto before = rt.totals().tasks;
    promise<int> p;
    const auto waits = [](future<int> f) -> task<int> { co_return co_await f; };
    auto f = start(rt, waits(p.get_future()));
    p.set_value(1);
    EXPECT_EQ(f.get(), 1);
    EXPECT_TRUE(quern_test::eventually([&] { return rt.totals().tasks == before + 1; }));
}

task<const quern::detail::pool*> where_it_runs() { co_return &quern::current_pool().get(); }

// Holds: start: Runs it on a given pool or runtime, else on the caller's pool.
TEST_P(coroutine_test, runs_where_it_is_told_to) {
    const auto* mine = &rt.default_pool().get();
    EXPECT_EQ(start(rt, where_it_runs()).get(), mine);
    EXPECT_EQ(start(rt.default_pool(), where_it_runs()).get(), mine);
    EXPECT_EQ(start({.pool = &rt.default_pool().get()}, where_it_runs()).get(), mine);
    EXPECT_EQ(inside([] { return start(where_it_runs()).get(); }), mine);
    EXPECT_EQ(start(where_it_runs()).get(),
              &quern::runtime::default_instance().default_pool().get());
}

// Holds: start: Launch policies do not apply: it is always queued.
TEST_P(coroutine_test, start_does_not_look_at_launch_policies) {
    for (const auto how : {quern::launch::deferred, quern::launch::sync, quern::launch::fork}) {
        auto f = start({.how = how, .pool = &rt.default_pool().get()}, where_it_runs());
        ASSERT_TRUE(quern_test::eventually([&] { return f.is_ready(); }));  // without a waiter
        EXPECT_EQ(f.get(), &rt.default_pool().get());
    }
}

}  // namespace
