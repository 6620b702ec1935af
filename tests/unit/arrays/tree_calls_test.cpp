// SPDX-License-Identifier: BSL-1.0
// Calls of trees: recursion, from threads and from tasks, stop requests, memory.
#include "unit/arrays/tree_making.hpp"

#include <quern/task/exceptions.hpp>

#include <malloc.h>

#include <atomic>
#include <chrono>
#include <stop_token>
#include <thread>

namespace {

using namespace quern::arrays;
using quern_test::integer;
using quern_test::k_all_rules;
using quern_test::making;
using quern_test::message_of;
using quern_test::number_of;
using quern_test::on_workers;
using quern_test::run;

/// f(n): if n == 0: return 0; return 1 + f(n - 1)
std::shared_ptr<const tree> depth_of() {
    making m({"n"});
    const auto stop = m.of(node_kind::branch, {m.op("equal", {m.get("n"), m.number(0)}),
                                               m.block({m.give(m.number(0))})});
    const auto inner = m.call(m.self(), {m.op("subtract", {m.get("n"), m.number(1)})});
    return m.finish(m.block({stop, m.give(m.op("add", {m.number(1), inner}))}));
}

/// f(n): if n < 2: return n; return f(n - 1) + f(n - 2)
std::shared_ptr<const tree> fibonacci() {
    making m({"n"});
    const auto stop = m.of(node_kind::branch, {m.op("less", {m.get("n"), m.number(2)}),
                                               m.block({m.give(m.get("n"))})});
    const auto one = m.call(m.self(), {m.op("subtract", {m.get("n"), m.number(1)})});
    const auto two = m.call(m.self(), {m.op("subtract", {m.get("n"), m.number(2)})});
    return m.finish(m.block({stop, m.give(m.op("add", {one, two}))}));
}

// Holds: tree: Calls may recurse 100 000 deep; a recursion without end throws.
TEST(tree_calls, recurse_deeply) {
    const auto f = depth_of();
    EXPECT_EQ(number_of(run(*f, {integer(100'000)})), 100'000);
    on_workers([&] { EXPECT_EQ(number_of(run(*f, {integer(20'000)})), 20'000); });
    const std::string endless = message_of<std::overflow_error>([&] { run(*f, {integer(-1)}); });
    EXPECT_EQ(endless,
              "f.py:11: in f: f() is nested more than 150000 deep: a recursion without end?");
}

TEST(tree_calls, recursion_runs_at_the_same_time) {
    const auto f = fibonacci();
    for (const inlining_rule rule : k_all_rules) {
        on_workers([&] { EXPECT_EQ(number_of(run(*f, {integer(12)}, rule)), 144); });
    }
}

TEST(tree_calls, trees_call_one_another) {
    // even(n) = n == 0 or odd(n - 1); odd(n) = n != 0 and even(n - 1)
    making odd({"n"}, "odd");
    making even({"n"}, "even");
    const auto of_even = odd.call(even.self(), {odd.op("subtract", {odd.get("n"), odd.number(1)})});
    odd.finish(odd.give(
        odd.of(node_kind::both, {odd.op("not_equal", {odd.get("n"), odd.number(0)}), of_even})));
    const auto of_odd =
        even.call(odd.self(), {even.op("subtract", {even.get("n"), even.number(1)})});
    EXPECT_THROW(run(*odd.self(), {integer(3)}), std::logic_error);
    even.finish(even.give(
        even.of(node_kind::either, {even.op("equal", {even.get("n"), even.number(0)}), of_odd})));
    EXPECT_TRUE(truth_of(run(*even.self(), {integer(1000)})));
    EXPECT_FALSE(truth_of(run(*even.self(), {integer(1001)})));
    *even.self() = tree("even", "f.py", {});  // breaks the circle
}

// Holds: tree: Any number of threads and tasks may call one tree at the same time.
TEST(tree_calls, many_threads_call_one_tree) {
    const auto f = fibonacci();
    std::atomic<int> right{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 200; ++i) {
                right += number_of(run(*f, {integer(i % 10)})) >= 0 ? 1 : 0;
            }
        });
    }
    for (std::thread& each : threads) {
        each.join();
    }
    EXPECT_EQ(right, 1600);
}

TEST(tree_calls, many_tasks_call_one_tree) {
    const auto f = fibonacci();
    on_workers([&] {
        std::vector<quern::future<std::int64_t>> all;
        for (int i = 0; i < 100; ++i) {
            all.push_back(quern::async([&] { return number_of(run(*f, {integer(9)})); }));
        }
        for (auto& each : all) {
            EXPECT_EQ(each.get(), 34);
        }
    });
}

// Holds: tree: Loops of a call end with task_cancelled when the calling task is asked to stop.
TEST(tree_calls, loops_end_when_the_task_is_asked_to_stop) {
    making m;
    const auto forever =
        m.of(node_kind::loop, {m.constant(value(true)), m.block({m.set("x", m.number(1))})});
    const auto f = m.finish(m.block({forever}));
    std::stop_source stop;
    const quern::runtime rt(quern::runtime_options::with_workers(2));
    auto endless = quern::async({.pool = &rt.default_pool().get(), .stop = stop.get_token()},
                                [&] { run(*f); });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    stop.request_stop();
    EXPECT_THROW(endless.get(), quern::task_cancelled);
}

// Holds: tree: Memory does not grow with the number of calls.
TEST(tree_calls, memory_does_not_grow) {
    making m({"x"});
    const auto a = m.set("a", m.op("add", {m.get("x"), m.number(1)}));
    const auto b = m.set("b", m.op("add", {m.get("x"), m.number(2)}));
    const auto c = m.give(m.of(node_kind::make_tuple, {m.get("a"), m.get("b")}));
    const auto f = m.finish(m.block({a, b, c}));
    const auto calls = [&](int count) {
        for (int i = 0; i < count; ++i) {
            run(*f, {integer(i)});
        }
        return static_cast<double>(mallinfo2().uordblks);
    };
    const double before = calls(10'000);
    EXPECT_LT(calls(100'000) - before, 200e3);
}

}  // namespace
