// SPDX-License-Identifier: BSL-1.0
// co_await on futures: ready, late and failed ones, from workers and from other threads, in
// coroutines of this library and of others; and foreign awaitables in coroutines of this library.
#include <quern/task/coroutine.hpp>
#include <quern/task/promise.hpp>
#include <quern/task/this_task.hpp>

#include "unit/scheduler/on_runtime.hpp"
#include "unit/task/foreign.hpp"

#include <atomic>
#include <coroutine>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

namespace {

using quern::future;
using quern::promise;
using quern::shared_future;
using quern::start;
using quern::task;
using quern_test::foreign;
using quern_test::scaled;

class await_test : public quern_test::on_runtime {};
QUERN_ON_ALL_POLICIES(await_test);

task<int> value_of(future<int> f) { co_return co_await std::move(f); }
task<int> value_of_shared(shared_future<int> f) { co_return co_await f; }

// Holds: co_await on futures: A ready future gives its value without suspension.
TEST_P(await_test, a_ready_future_gives_its_value_without_suspension) {
    EXPECT_EQ(start(rt, value_of(quern::make_ready_future(1))).get(), 1);
    EXPECT_EQ(start(rt, value_of_shared(quern::make_ready_future(2).share())).get(), 2);
}

// Holds: co_await on futures: A late future suspends the coroutine until the result is there.
TEST_P(await_test, a_late_future_resumes_the_coroutine) {
    promise<int> unique, shared;
    auto a = start(rt, value_of(unique.get_future()));
    const shared_future<int> many = shared.get_future();
    auto b = start(rt, value_of_shared(many));
    auto c = start(rt, value_of_shared(many));
    EXPECT_FALSE(a.is_ready());
    unique.set_value(1);
    shared.set_value(2);
    EXPECT_EQ(a.get(), 1);
    EXPECT_EQ(b.get() + c.get(), 4);
    EXPECT_TRUE(many.valid());
}

// Holds: co_await on futures: The result is that of get(): moved out, a reference, or nothing.
TEST_P(await_test, voids_references_and_what_can_only_be_moved) {
    int x = 5;
    const auto all = [](int& y) -> task<int> {
        co_await quern::async([] {});
        int& same = co_await quern::async([&y]() -> int& { return y; });
        same += *co_await quern::async([] { return std::make_unique<int>(3); });
        shared_future<void> done = quern::async([] {});
        co_await done;
        co_return same;
    };
    EXPECT_EQ(start(rt, all(x)).get(), 8);
    EXPECT_EQ(x, 8);
}

// Holds: co_await on futures: Exceptions are thrown by co_await.
// Holds: co_await on futures: Without a state: std::future_error(no_state).
TEST_P(await_test, exceptions_travel) {
    promise<int> late;
    auto a = start(rt, value_of(late.get_future()));
    auto b = start(rt, value_of(quern::make_exceptional_future<int>(
                           std::make_exception_ptr(std::runtime_error("early")))));
    late.set_exception(std::make_exception_ptr(std::runtime_error("late")));
    EXPECT_THROW(a.get(), std::runtime_error);
    EXPECT_THROW(b.get(), std::runtime_error);
    EXPECT_THROW(start(rt, value_of(future<int>())).get(), std::future_error);
}

// Holds: co_await on futures: A deferred task is started.
TEST_P(await_test, a_deferred_task_is_started) {
    const auto waits = []() -> task<int> {
        co_return co_await quern::async(quern::launch::deferred, [] { return 7; });
    };
    EXPECT_EQ(start(rt, waits()).get(), 7);
}

// Holds: co_await on futures: The coroutine resumes in the pool whose worker awaited.
TEST_P(await_test, goes_on_in_the_pool_of_whoever_awaited) {
    promise<void> p;
    const auto asks = [](future<void> f) -> task<bool> {
        const auto* before = &quern::current_pool().get();
        co_await f;
        co_return before == &quern::current_pool().get();
    };
    auto f = start(rt, asks(p.get_future()));
    quern::runtime other(quern::runtime_options::with_workers(1));
    quern::async(other, [&p] { p.set_value(); }).get();
    EXPECT_TRUE(f.get());
}

// Holds: co_await on futures: May be used in...
// Holds: co_await on futures: A thread outside continues itself only when the result is there; else
//     the coroutine resumes in the default runtime, and the thread returns.
TEST_P(await_test, a_thread_outside_leaves_the_coroutine_to_the_default_pool) {
    promise<int> p;
    promise<quern::detail::pool*> where;
    const auto waits = [](future<int> f, promise<quern::detail::pool*>& to) -> foreign {
        co_await f;
        to.set_value(&quern::current_pool().get());
    };
    auto resumed = where.get_future();
    waits(p.get_future(), where);
    EXPECT_FALSE(resumed.is_ready());
    p.set_value(1);
    EXPECT_EQ(resumed.get(), &quern::runtime::default_instance().default_pool().get());
}

// Holds: co_await on futures: May be used in coroutines of other libraries.
// Holds: task: Coroutines of other libraries may await a task.
TEST_P(await_test, coroutines_of_others_await_tasks) {
    promise<int> p;
    promise<int> result;
    const auto waits = [](future<int> f, promise<int>& to) -> foreign {
        int sum = 0;
        for (int i = 0; i < scaled(100'000, 10'000); ++i) {  // each ends at once
            sum += co_await value_of(quern::make_ready_future(1));
        }
        to.set_value(sum + co_await value_of(std::move(f)));
    };
    inside([&] {
        waits(p.get_future(), result);
        p.set_value(2);
    });
    EXPECT_EQ(result.get_future().get(), scaled(100'002, 10'002));
}

/// Awaitables independent of Quern: a plain thread resumes the coroutine.
struct on_new_thread {
    std::thread& thread;
    int ticket = 5;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) const {
        const auto stored = std::make_shared<quern_test::spin_gate>();
        thread = std::thread([h, stored] {
            stored->pass();
            h.resume();
        });
        stored->open();
    }
    int await_resume() const noexcept { return ticket; }
};
struct refuses {
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<>) const { throw std::runtime_error("refused"); }
    void await_resume() const noexcept {}
};
struct answers {
    bool suspend_not;
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> h) const noexcept { return h; }
    bool await_resume() const noexcept { return suspend_not; }
};

// Holds: task: co_await takes tasks, futures and every other awaitable.
TEST_P(await_test, awaitables_of_others_in_a_task) {
    std::thread thread;
    promise<int> p;
    const auto uses = [](std::thread& t, future<int> f) -> task<int> {
        co_await std::suspend_never{};
        bool refused = false;
        try {
            co_await refuses{};
        } catch (const std::runtime_error&) {
            refused = true;
        }
        const bool same = co_await answers{true};
        const int ticket = co_await on_new_thread{t};
        const bool left = ticket == 5 && quern::detail::current_context() == nullptr;
        const int here = co_await value_of(quern::make_ready_future(1));  // no runner
        const int there = co_await std::move(f);                          // on a worker again
        const bool all = refused && same && left;
        co_return all ? here + there : -1;
    };
    const auto outer = [&uses](std::thread& t, future<int> f) -> task<int> {
        co_return co_await uses(t, std::move(f));
    };
    auto result = start(rt, outer(thread, p.get_future()));
    EXPECT_FALSE(result.is_ready());
    p.set_value(2);
    EXPECT_EQ(result.get(), 3);
    thread.join();
}

// Holds: task: It may end on a thread that is no worker.
TEST_P(await_test, a_task_may_end_on_a_thread_outside) {
    std::thread thread;
    const auto moves = [](std::thread& t) -> task<int> {
        co_await on_new_thread{t};
        co_return 1;
    };
    const auto outer = [&moves](std::thread& t) -> task<int> { co_return 1 + co_await moves(t); };
    EXPECT_EQ(start(rt, outer(thread)).get(), 2);
    thread.join();
}

/// The coroutine ends on another thread, and its future is dropped, before await_suspend() returns.
struct ends_meanwhile {
    std::atomic<bool>& dropped;
    std::atomic<int>& asked;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) const {
        const auto& gone = dropped;  // a capture: destroyed with the frame
        auto& to = asked;
        std::thread([h] { h.resume(); }).join();
        while (!gone.load()) {
            std::this_thread::yield();
        }
        const bool under_a_signal = quern::detail::running_signal() != nullptr;
        to.store(under_a_signal || quern::this_task::stop_requested() ? 1 : 0);
    }
    void await_resume() const noexcept {}
};

TEST_P(await_test, who_let_a_task_end_elsewhere_is_not_asked_to_stop_by_it) {
    std::atomic<bool> dropped{false};
    std::atomic<int> asked{-1};
    const auto ends = [](std::atomic<bool>& gone, std::atomic<int>& to) -> task<int> {
        co_await ends_meanwhile{gone, to};
        co_return 1;
    };
    std::stop_source stop;
    EXPECT_EQ(
        start({.pool = &rt.default_pool().get(), .stop = stop.get_token()}, ends(dropped, asked))
            .get(),
        1);
    stop.request_stop();
    dropped.store(true);
    EXPECT_TRUE(quern_test::eventually([&asked] { return asked.load() >= 0; }));
    EXPECT_EQ(asked.load(), 0);
}

// Holds: co_await on futures: The future is invalid afterwards, also when it is an lvalue.
// Holds: co_await on futures: A shared_future stays valid, and the result is a reference to const
//     into its state.
TEST_P(await_test, leaves_a_future_invalid_and_a_shared_one_valid) {
    promise<int> late;
    const auto asks = [](promise<int>& p) -> task<bool> {
        future<int> f = p.get_future();
        p.set_value(1);
        const bool got = co_await f == 1;
        const shared_future<int> shared = quern::make_ready_future(2).share();
        const int& seen = co_await shared;
        const bool same = &seen == &shared.get();
        co_return got && !f.valid() && shared.valid() && same;
    };
    EXPECT_TRUE(start(rt, asks(late)).get());
}

// Holds: co_await on futures: The producer's writes happen before the coroutine resumes.
TEST_P(await_test, shows_the_coroutine_what_was_done_before) {
    const auto adds = [](int& data) -> task<int> {
        for (int i = 0; i < scaled(1'000, 100); ++i) {
            co_await quern::async([&data] { ++data; });  // plain: ordered only by the futures
            ++data;
        }
        co_return data;
    };
    int data = 0;
    EXPECT_EQ(start(rt, adds(data)).get(), scaled(2'000, 200));
}

// Holds: co_await on futures: The worker runs other work meanwhile.
TEST_P(await_test, leaves_the_worker_to_others) {
    promise<int> p;
    std::vector<future<int>> waiting;
    const shared_future<int> f = p.get_future();
    for (unsigned i = 0; i < 4 * workers(); ++i) {
        waiting.push_back(start(rt, value_of_shared(f)));
    }
    quern::async(rt, [&p] { p.set_value(1); }).get();
    for (auto& each : waiting) {
        EXPECT_EQ(each.get(), 1);
    }
}

// Holds: co_await on futures: No future that becomes ready meanwhile is lost.
TEST_P(await_test, futures_that_become_ready_meanwhile_are_not_lost) {
    constexpr int k_rounds = scaled(20'000, 1'000);
    const auto sums = [](int rounds) -> task<int> {
        int sum = 0;
        for (int i = 0; i < rounds; ++i) {
            sum += co_await quern::async([] { return 1; });
        }
        co_return sum;
    };
    auto a = start(rt, sums(k_rounds));
    auto b = start(rt, sums(k_rounds));
    EXPECT_EQ(a.get() + b.get(), 2 * k_rounds);
}

}  // namespace
