// SPDX-License-Identifier: BSL-1.0
// A program may have functions with the names of Quern's. Quern calls none of them, although
// argument-dependent lookup would find them for arguments of the program's types.
#include <quern/quern.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <coroutine>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace hostile_names {

/// A call of one of these names has found the wrong function.
#define QUERN_TEST_TRAP(name)    \
    template <class... Anything> \
    void name(Anything&&...) = delete;

QUERN_TEST_TRAP(async)
QUERN_TEST_TRAP(post)
QUERN_TEST_TRAP(dataflow)
QUERN_TEST_TRAP(start)
QUERN_TEST_TRAP(when_all)
QUERN_TEST_TRAP(when_any)
QUERN_TEST_TRAP(when_some)
QUERN_TEST_TRAP(when_each)
QUERN_TEST_TRAP(wait_all)
QUERN_TEST_TRAP(wait_any)
QUERN_TEST_TRAP(wait_some)
QUERN_TEST_TRAP(split_future)
QUERN_TEST_TRAP(unwrapping)
QUERN_TEST_TRAP(make_ready_future)
QUERN_TEST_TRAP(make_exceptional_future)
QUERN_TEST_TRAP(make_ready_future_at)
QUERN_TEST_TRAP(make_ready_future_after)
QUERN_TEST_TRAP(scope)
QUERN_TEST_TRAP(fork_join)
QUERN_TEST_TRAP(parallel_for)
QUERN_TEST_TRAP(parallel_reduce)
QUERN_TEST_TRAP(blocking)
QUERN_TEST_TRAP(run_guarded)
QUERN_TEST_TRAP(call_once)
QUERN_TEST_TRAP(yield)
QUERN_TEST_TRAP(sleep_until)
QUERN_TEST_TRAP(sleep_for)
// names within quern::detail
QUERN_TEST_TRAP(advance)
QUERN_TEST_TRAP(apply_attributes)
QUERN_TEST_TRAP(attach)
QUERN_TEST_TRAP(awaiter_of)
QUERN_TEST_TRAP(begin_task)
QUERN_TEST_TRAP(call_child)
QUERN_TEST_TRAP(call_on_fresh_stack)
QUERN_TEST_TRAP(call_stored)
QUERN_TEST_TRAP(combine)
QUERN_TEST_TRAP(count_futures)
QUERN_TEST_TRAP(deal_loop)
QUERN_TEST_TRAP(deal_reduction)
QUERN_TEST_TRAP(distance)
QUERN_TEST_TRAP(drop_child)
QUERN_TEST_TRAP(due_after)
QUERN_TEST_TRAP(flatten)
QUERN_TEST_TRAP(for_each_future)
QUERN_TEST_TRAP(join_futures)
QUERN_TEST_TRAP(know_runner)
QUERN_TEST_TRAP(run_at)
QUERN_TEST_TRAP(run_loop)
QUERN_TEST_TRAP(run_on)
QUERN_TEST_TRAP(run_part)
QUERN_TEST_TRAP(start_task)
QUERN_TEST_TRAP(suspend)
QUERN_TEST_TRAP(tell)
QUERN_TEST_TRAP(unwrap)
QUERN_TEST_TRAP(wait_in)
QUERN_TEST_TRAP(wait_on_clock)
QUERN_TEST_TRAP(watch)

struct number {
    int value = 1;
    friend number operator+(number a, number b) { return {a.value + b.value}; }
    friend bool operator==(number, number) = default;
};

/// Takes and returns only types of the program.
struct function {
    number operator()() const { return {}; }
    number operator()(number a) const { return a; }
    number operator()(const quern::future<number>&) const { return {}; }
    number operator()(quern::future<number>, quern::future<number>) const { return {2}; }
    void operator()(quern::fork_scope& s) const {
        s.spawn([] { return number(); });
    }
};

struct body {
    number operator()(int) const { return {}; }
};

using futures = std::vector<quern::future<number>>;

futures several() {
    futures all;
    all.push_back(quern::async(function()));
    all.push_back(quern::async(function()));
    return all;
}

}  // namespace hostile_names

namespace {

using hostile_names::function;
using hostile_names::futures;
using hostile_names::number;
using hostile_names::several;

// Holds: async: Functions of the program with the same names are not called, here and everywhere
//     else.
TEST(hostile_names, of_starting_a_task_are_not_called) {
    EXPECT_EQ(quern::async(function()).get(), number());
    EXPECT_EQ(quern::async(function(), number()).get(), number());
    EXPECT_EQ(quern::async(quern::launch::sync, function()).get(), number());
    EXPECT_EQ(quern::async(quern::launch::fork, function()).get(), number());
    EXPECT_EQ(quern::async(quern::launch::deferred, function()).get(), number());
    EXPECT_EQ(quern::async({.name = "hostile"}, function()).get(), number());
    EXPECT_EQ(quern::async(quern::current_pool(), function(), number()).get(), number());
    EXPECT_EQ(quern::async(quern::runtime::default_instance(), function()).get(), number());
    quern::post(function());
    quern::post({.name = "hostile"}, function(), number());
    quern::thread(function()).join();
    quern::jthread(function(), number()).join();
    quern::task_group group;
    group.run(function());
    group.wait();
}

// Holds: async: Functions of the program...
TEST(hostile_names, of_combining_futures_are_not_called) {
    EXPECT_EQ(quern::async(function()).then(function()).get(), number());
    EXPECT_EQ(quern::async(function()).share().then([](auto f) { return f.get(); }).get(),
              number());
    EXPECT_EQ(quern::dataflow(function(), quern::async(function()), quern::async(function())).get(),
              number{2});
    EXPECT_EQ(quern::dataflow(quern::unwrapping(function()), quern::async(function())).get(),
              number());
    EXPECT_EQ(
        quern::dataflow(quern::unwrapping([](auto all) { return all.size(); }), several()).get(),
        2U);
    EXPECT_EQ(quern::when_all(several()).get().size(), 2U);
    EXPECT_LT(quern::when_any(several()).get().index, 2U);
    EXPECT_EQ(quern::when_some(2, several()).get().indices.size(), 2U);
    futures some = several();
    EXPECT_EQ(quern::when_all(some.begin(), some.end()).get().size(), 2U);
    some = several();
    EXPECT_LT(quern::when_any(some.begin(), some.end()).get().index, 2U);
    some = several();
    EXPECT_EQ(quern::when_some(1, some.begin(), some.end()).get().indices.size(), 1U);
    int seen = 0;
    quern::when_each([&seen](quern::future<number> f) { seen += f.get().value; }, several()).get();
    some = several();
    quern::when_each([&seen](quern::future<number> f) { seen += f.get().value; }, some.begin(),
                     some.end())
        .get();
    EXPECT_EQ(seen, 4);
}

// Holds: async: Functions of the program...
TEST(hostile_names, of_waiting_for_futures_are_not_called) {
    futures some = several();
    quern::wait_all(some);
    quern::wait_all(some[0], some[1]);
    EXPECT_LT(quern::wait_any(some), 2U);
    EXPECT_LT(quern::wait_any(some[0], some[1]), 2U);
    EXPECT_EQ(quern::wait_some(2, some).size(), 2U);
    EXPECT_EQ(some[0].wait_for(std::chrono::hours(1)), std::future_status::ready);
    auto [a, b] = quern::split_future(quern::async([] { return std::pair<number, number>(); }));
    EXPECT_EQ(a.get(), b.get());
    quern::promise<number> p;
    p.set_value(number());
    EXPECT_EQ(p.get_future().get(), number());
    EXPECT_EQ(quern::make_ready_future(number()).get(), number());
    EXPECT_EQ(quern::make_ready_future_after(std::chrono::microseconds(1), number()).get(),
              number());
    EXPECT_EQ(quern::future<number>(quern::async([] { return quern::async(function()); })).get(),
              number());
}

// Holds: async: Functions of the program...
TEST(hostile_names, of_forks_and_loops_are_not_called) {
    const auto [a, b] = quern::fork_join(function(), function());
    EXPECT_EQ(a, b);
    quern::scope(function());
    quern::async([] {
        quern::scope(function());
        quern::fork_join(function(), function());
    }).get();
    quern::parallel_for(0, 1000, hostile_names::body());
    quern::parallel_for(std::stop_token(), 0, 1000, quern::grain::automatic(),
                        hostile_names::body());
    EXPECT_EQ(quern::parallel_reduce(0, 1000, number{0}, hostile_names::body(), std::plus<>{}),
              number{1000});
    EXPECT_EQ(quern::parallel_reduce(std::stop_token(), 0, 1000, quern::grain::automatic(),
                                     number{0}, hostile_names::body(), std::plus<>{}),
              number{1000});
}

quern::task<number> hostile_coroutine() { co_return co_await quern::async(function()); }

// Holds: async: Functions of the program...
TEST(hostile_names, of_synchronisation_and_coroutines_are_not_called) {
    quern::guard one;
    EXPECT_EQ(quern::run_guarded(one, function()).get(), number());
    quern::once_flag once;
    quern::call_once(once, function(), number());
    EXPECT_EQ(quern::blocking(function()), number());
    EXPECT_EQ(quern::start(hostile_coroutine()).get(), number());
    quern::channel<number> numbers(1);
    numbers.send(number());
    EXPECT_EQ(numbers.receive(), number());
}

/// As in programs that wrap async in order to count or to log.
struct counted {
    int operator()() const { return 1; }
    static inline int calls = 0;
};
template <class F, class... Args>
auto async(F&& f, Args&&... args) {
    ++counted::calls;
    return quern::async(std::forward<F>(f), std::forward<Args>(args)...);
}

// Holds: async: Functions of the program...
TEST(hostile_names, of_a_wrapper_mean_the_wrapper_once) {
    EXPECT_EQ((async)(counted()).get(), 1);
    EXPECT_EQ(quern::async(counted()).get(), 1);
    EXPECT_EQ(counted::calls, 1);
}

}  // namespace
