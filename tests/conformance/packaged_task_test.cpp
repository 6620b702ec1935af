// SPDX-License-Identifier: BSL-1.0
// [futures.task]: one case per sentence.
#include <quern/task/async.hpp>
#include <quern/task/promise.hpp>

#include "conformance/expect_error.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

namespace {

using quern::future;
using quern::packaged_task;

// Holds: packaged_task: It can be moved, without exceptions, and not copied.
TEST(packaged_task, can_be_moved_and_not_copied) {
    EXPECT_FALSE(std::is_copy_constructible_v<packaged_task<int()>>);
    EXPECT_FALSE(std::is_copy_assignable_v<packaged_task<int()>>);
    EXPECT_TRUE(std::is_nothrow_default_constructible_v<packaged_task<int()>>);
    EXPECT_TRUE(std::is_nothrow_move_constructible_v<packaged_task<int()>>);
}

int twice(int n) { return 2 * n; }

// Holds: packaged_task: By default it has neither state nor function; its functions throw
//     std::future_error(no_state).
TEST(packaged_task, by_default_has_neither_state_nor_function) {
    packaged_task<int(int)> task;
    EXPECT_FALSE(task.valid());
    QUERN_EXPECT_FUTURE_ERROR(task.get_future(), no_state);
    QUERN_EXPECT_FUTURE_ERROR(task(1), no_state);
}

// Holds: packaged_task: valid(): whether it has a state.
// Holds: packaged_task: A call stores the result; the future is not ready before.
TEST(packaged_task, stores_the_result_of_its_call) {
    packaged_task<int(int)> task(twice);
    EXPECT_TRUE(task.valid());
    future<int> f = task.get_future();
    EXPECT_FALSE(f.is_ready());
    task(4);
    EXPECT_TRUE(f.is_ready());
    EXPECT_EQ(f.get(), 8);
}

// Holds: packaged_task: A call stores what the function throws, and throws nothing itself.
TEST(packaged_task, stores_what_the_function_throws) {
    packaged_task<void()> task([] { throw std::runtime_error("task"); });
    auto f = task.get_future();
    task();
    EXPECT_THROW(f.get(), std::runtime_error);
}

// Holds: packaged_task: Results of void, references, and what can only be moved are delivered;
//     arguments are forwarded.
TEST(packaged_task, delivers_void_references_and_what_cannot_be_copied) {
    bool ran = false;
    packaged_task<void()> nothing([&ran] { ran = true; });
    nothing();
    nothing.get_future().get();
    EXPECT_TRUE(ran);
    int place = 0;
    packaged_task<int&()> reference([&place]() -> int& { return place; });
    reference();
    EXPECT_EQ(&reference.get_future().get(), &place);
    packaged_task<std::unique_ptr<int>(std::unique_ptr<int>)> moves(
        [](std::unique_ptr<int> p) { return p; });
    moves(std::make_unique<int>(3));
    EXPECT_EQ(*moves.get_future().get(), 3);
}

// Holds: packaged_task: It holds any function that can be moved.
TEST(packaged_task, holds_functions_that_cannot_be_copied) {
    packaged_task<int()> task([p = std::make_unique<int>(6)] { return *p; });
    auto f = task.get_future();
    task();
    EXPECT_EQ(f.get(), 6);
}

// Holds: packaged_task: A second call throws std::future_error(promise_already_satisfied), and the
//     function is not called.
TEST(packaged_task, may_be_called_once) {
    packaged_task<int(int)> task(twice);
    task(1);
    QUERN_EXPECT_FUTURE_ERROR(task(2), promise_already_satisfied);
    EXPECT_EQ(task.get_future().get(), 2);
}

// Holds: packaged_task: get_future() a second time throws
//     std::future_error(future_already_retrieved).
TEST(packaged_task, gives_its_future_once) {
    packaged_task<int(int)> task(twice);
    const auto f = task.get_future();
    QUERN_EXPECT_FUTURE_ERROR(task.get_future(), future_already_retrieved);
}

// Holds: packaged_task: valid(): whether it has...
// Holds: packaged_task: A move transfers state and function.
TEST(packaged_task, move_transfers_state_and_function) {
    packaged_task<int(int)> task(twice);
    auto f = task.get_future();
    packaged_task<int(int)> other(std::move(task));
    EXPECT_FALSE(task.valid());
    other(3);
    EXPECT_EQ(f.get(), 6);
    QUERN_EXPECT_FUTURE_ERROR(task(1), no_state);
}

// Holds: packaged_task: Move assignment and destruction abandon a state without result.
TEST(packaged_task, move_assignment_abandons_the_old_state) {
    packaged_task<int(int)> task(twice);
    auto old = task.get_future();
    task = packaged_task<int(int)>([](int n) { return n; });
    QUERN_EXPECT_FUTURE_ERROR(old.get(), broken_promise);
    task(7);
    EXPECT_EQ(task.get_future().get(), 7);
}

// Holds: packaged_task: Move assignment and destruction...
TEST(packaged_task, destructor_abandons_the_state) {
    future<int> f;
    {
        packaged_task<int(int)> task(twice);
        f = task.get_future();
    }
    QUERN_EXPECT_FUTURE_ERROR(f.get(), broken_promise);
}

// Holds: packaged_task: A result is converted to that of the signature.
TEST(packaged_task, converts_the_result) {
    packaged_task<long(int)> wider(twice);
    wider(2);
    EXPECT_EQ(wider.get_future().get(), 4L);
}

// Holds: packaged_task: Task or thread may call it.
TEST(packaged_task, may_be_called_by_a_task_or_thread) {
    packaged_task<int(int)> task(twice);
    auto f = task.get_future();
    quern::post(std::move(task), 5);
    EXPECT_EQ(f.get(), 10);
    packaged_task<int(int)> other(twice);
    auto g = other.get_future();
    std::thread(std::move(other), 6).join();
    EXPECT_EQ(g.get(), 12);
}

// Holds: packaged_task: A second call throws...
TEST(packaged_task, does_not_call_its_function_a_second_time) {
    int calls = 0;
    packaged_task<void()> task([&calls] { ++calls; });
    task();
    QUERN_EXPECT_FUTURE_ERROR(task(), promise_already_satisfied);
    EXPECT_EQ(calls, 1);
}

// Holds: packaged_task: Of several threads that call it at once one calls the function; the others
//     get promise_already_satisfied.
TEST(packaged_task, may_be_called_by_one_of_several_threads) {
    for (int round = 0; round < 300; ++round) {
        std::atomic<int> calls{0};
        std::atomic<int> refused{0};
        std::atomic<int> missing{2};
        packaged_task<int()> t([&calls] { return ++calls; });
        auto f = t.get_future();
        const auto call = [&] {
            missing.fetch_sub(1);
            while (missing.load() != 0) {
                std::this_thread::yield();
            }
            refused +=
                quern_test::future_error_of(t) == std::future_errc::promise_already_satisfied;
        };
        std::thread one(call);
        std::thread other(call);
        one.join();
        other.join();
        EXPECT_EQ(calls.load(), 1);
        EXPECT_EQ(refused.load(), 1);
        EXPECT_EQ(f.get(), 1);
    }
}

// Holds: packaged_task: Its template arguments are deduced from a function, a lambda or a function
//     object with one operator().
TEST(packaged_task, finds_the_signature_of_its_function) {
    packaged_task of_function(twice);
    packaged_task of_lambda([](int a, long b) { return a + b; });
    packaged_task of_mutable([n = 0](int&) mutable noexcept { ++n; });
    EXPECT_TRUE((std::is_same_v<decltype(of_function), packaged_task<int(int)>>));
    EXPECT_TRUE((std::is_same_v<decltype(of_lambda), packaged_task<long(int, long)>>));
    EXPECT_TRUE((std::is_same_v<decltype(of_mutable), packaged_task<void(int&)>>));
    of_function(2);
    EXPECT_EQ(of_function.get_future().get(), 4);
}

// Holds: packaged_task: swap() exchanges functions and states, as a member and free.
TEST(packaged_task, swaps) {
    packaged_task<int()> one([] { return 1; });
    packaged_task<int()> two([] { return 2; });
    auto of_one = one.get_future();
    one.swap(two);
    two();
    EXPECT_EQ(of_one.get(), 1);
    swap(one, two);
    EXPECT_EQ(quern_test::future_error_of([&] { one(); }),
              std::future_errc::promise_already_satisfied);
    two();
    EXPECT_EQ(two.get_future().get(), 2);
}

// Holds: packaged_task: reset() gives it a new state, and abandons the old one.
TEST(packaged_task, reset_gives_a_new_state) {
    int n = 0;
    packaged_task<int()> t([&n] { return ++n; });
    t();
    EXPECT_EQ(t.get_future().get(), 1);
    t.reset();
    auto given_up = t.get_future();
    t.reset();
    QUERN_EXPECT_FUTURE_ERROR(given_up.get(), broken_promise);
    t();
    EXPECT_EQ(t.get_future().get(), 2);
    packaged_task<int()> none;
    QUERN_EXPECT_FUTURE_ERROR((none.reset(), 0), no_state);
}

// Holds: packaged_task: A packaged_task of void drops what its function returns.
TEST(packaged_task, of_void_drops_what_its_function_returns) {
    packaged_task<void()> t([] { return 1; });
    t();
    t.get_future().get();
}

// Holds: packaged_task: What the call does happens before the return of get().
TEST(packaged_task, synchronizes_its_call_with_get) {
    for (int i = 0; i < 100; ++i) {
        int data = 0;  // plain: ordered only by the task
        packaged_task<void()> task([&data] { data = 1; });
        auto f = task.get_future();
        std::thread caller(std::move(task));
        f.get();
        EXPECT_EQ(data, 1);
        caller.join();
    }
}

}  // namespace
