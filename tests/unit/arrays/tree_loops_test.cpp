// SPDX-License-Identifier: BSL-1.0
// Loops: what they iterate over, how they are left, and parallel ones.
#include "unit/arrays/tree_making.hpp"

#include <atomic>
#include <limits>

namespace {

using namespace quern::arrays;
using quern_test::integer;
using quern_test::making;
using quern_test::message_of;
using quern_test::number_of;
using quern_test::on_workers;
using quern_test::run;

/// total = 0; for i in <over>: total = total + i; return total
std::shared_ptr<const tree> sum_over(node_kind loop = node_kind::for_each) {
    making m({"over"});
    const auto begin = m.set("total", m.number(0));
    const auto add = m.set("total", m.op("add", {m.get("total"), m.get("i")}));
    const auto loop_node = m.loop_over(loop, "i", m.get("over"), m.block({add}));
    return m.finish(m.block({begin, loop_node, m.give(m.get("total"))}));
}

// Holds: tree: for_each iterates over a slice as over a range, over the elements of a tuple and the
// rows of an array; anything else is refused.
TEST(tree_loops, iterate_over_ranges_tuples_and_arrays) {
    const auto f = sum_over();
    const auto sum = [&](value over) { return number_of(run(*f, {std::move(over)})); };
    EXPECT_EQ(sum(slice{.start = {}, .stop = 5, .step = {}}), 10);
    EXPECT_EQ(sum(slice{.start = 7, .stop = 1, .step = -3}), 11);
    EXPECT_EQ(sum(slice{.start = 3, .stop = 3, .step = {}}), 0);
    EXPECT_EQ(sum(slice{.start = 3, .stop = 2, .step = 4}), 0);
    EXPECT_EQ(sum(tuple(std::make_shared<values>(values{integer(4), integer(5)}))), 9);
    EXPECT_EQ(message_of<std::invalid_argument>([&] { sum(integer(4)); }),
              "f.py:9: in f: cannot iterate over 4");
    EXPECT_EQ(message_of<std::invalid_argument>([&] { sum(slice{.step = 2}); }),
              "f.py:9: in f: a range needs its end");
    EXPECT_THROW(sum(slice{.start = {}, .stop = 4, .step = 0}), std::invalid_argument);
    array numbers(dtype::int64, {3});
    for (int i = 0; i < 3; ++i) {
        numbers.data<std::int64_t>()[i] = 10 + i;
    }
    const value total = run(*f, {numbers});
    ASSERT_TRUE(total.is<array>());
    EXPECT_EQ(*total.as<array>()->data<std::int64_t>(), 33);
}

TEST(tree_loops, ranges_near_the_limits_end) {
    making m({"a", "b", "c"});
    const auto range = m.of(node_kind::make_slice, {m.get("a"), m.get("b"), m.get("c")});
    const auto count = m.set("n", m.op("add", {m.get("n"), m.number(1)}));
    const auto loop = m.loop_over(node_kind::for_each, "i", range, m.block({count}));
    const auto f = m.finish(m.block({m.set("n", m.number(0)), loop, m.give(m.get("n"))}));
    constexpr std::int64_t k_least = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t k_most = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(number_of(run(*f, {integer(k_least), integer(k_most), integer(k_most)})), 3);
    EXPECT_EQ(number_of(run(*f, {integer(k_most), integer(k_least), integer(k_least)})), 2);
}

/// n = 0; for i in range(5): for j in range(5): if j == 3: break; if j == i: continue; n = n + 1
TEST(tree_loops, break_and_continue_belong_to_the_innermost_loop) {
    making m;
    const auto leave = m.of(node_kind::branch, {m.op("equal", {m.get("j"), m.number(3)}),
                                                m.block({m.of(node_kind::leave)})});
    const auto next = m.of(node_kind::branch, {m.op("equal", {m.get("j"), m.get("i")}),
                                               m.block({m.of(node_kind::next)})});
    const auto count = m.set("n", m.op("add", {m.get("n"), m.number(1)}));
    const auto inner =
        m.loop_over(node_kind::for_each, "j", m.range(m.number(5)), m.block({leave, next, count}));
    const auto outer =
        m.loop_over(node_kind::for_each, "i", m.range(m.number(5)), m.block({inner}));
    const auto f = m.finish(m.block({m.set("n", m.number(0)), outer, m.give(m.get("n"))}));
    EXPECT_EQ(number_of(run(*f)), 5 * 3 - 3);
}

// Holds: tree: A return in nested loops and branches ends the call with its value.
TEST(tree_loops, an_early_return_leaves_all_loops) {
    making m({"x"});
    const auto found =
        m.of(node_kind::branch,
             {m.op("greater", {m.op("multiply", {m.get("i"), m.get("j")}), m.get("x")}),
              m.block({m.give(m.get("i"))})});
    const auto step = m.set("j", m.op("add", {m.get("j"), m.number(1)}));
    const auto inner =
        m.of(node_kind::loop, {m.op("less", {m.get("j"), m.number(10)}), m.block({found, step})});
    const auto body = m.block({m.set("j", m.number(0)), inner});
    const auto outer = m.loop_over(node_kind::for_each, "i", m.range(m.number(10)), body);
    const auto f = m.finish(m.block({outer, m.give(m.number(-1))}));
    EXPECT_EQ(number_of(run(*f, {integer(40)})), 5);
    EXPECT_EQ(number_of(run(*f, {integer(99)})), -1);
}

// Holds: tree: Iterations of parallel_for run in any order; variables stored in the body belong to
// the iteration and begin without a value.
TEST(tree_parallel_loops, every_iteration_has_its_own_variables) {
    on_workers([] {
        constexpr std::int64_t k_count = 1000;
        std::vector<std::atomic<std::int64_t>> seen(k_count);
        making m;
        const auto square = m.set("s", m.op("multiply", {m.get("i"), m.get("i")}));
        const auto tell = m.foreign(
            [&](std::span<const value> given) -> value {
                const auto i = static_cast<std::size_t>(*given[0].as<std::int64_t>());
                seen[i] += *given[1].as<std::int64_t>() + 1;
                return none();
            },
            {m.get("i"), m.get("s")});
        const auto loop = m.loop_over(node_kind::parallel_for, "i", m.range(m.number(k_count)),
                                      m.block({square, tell}));
        const auto f = m.finish(m.block({m.set("s", m.number(-5)), loop, m.give(m.get("s"))}));
        EXPECT_EQ(number_of(run(*f)), -5);
        for (std::int64_t i = 0; i < k_count; ++i) {
            EXPECT_EQ(seen[static_cast<std::size_t>(i)], i * i + 1);
        }
    });
}

TEST(tree_parallel_loops, a_variable_of_an_iteration_begins_empty) {
    EXPECT_EQ(message_of<std::invalid_argument>(
                  [] { run(*sum_over(node_kind::parallel_for), {slice{.stop = 5}}); }),
              "f.py:3: in f: the variable `total` has no value yet");
}

TEST(tree_parallel_loops, continue_ends_an_iteration_and_nested_ones_work) {
    on_workers([] {
        std::atomic<std::int64_t> sum{0};
        making m;
        const auto next = m.of(node_kind::branch, {m.op("equal", {m.get("j"), m.get("i")}),
                                                   m.block({m.of(node_kind::next)})});
        const auto tell = m.foreign(
            [&](std::span<const value> given) -> value {
                sum += *given[0].as<std::int64_t>() * 100 + *given[1].as<std::int64_t>();
                return none();
            },
            {m.get("i"), m.get("j")});
        const auto inner =
            m.loop_over(node_kind::parallel_for, "j", m.range(m.number(20)), m.block({next, tell}));
        const auto outer =
            m.loop_over(node_kind::parallel_for, "i", m.range(m.number(20)), m.block({inner}));
        run(*m.finish(m.block({outer})));
        EXPECT_EQ(sum, 190 * 19 * 101);
    });
}

TEST(tree_parallel_loops, an_error_of_an_iteration_leaves_the_loop) {
    on_workers([] {
        making m({"n"});
        const auto bad = m.foreign(
            [](std::span<const value> given) -> value {
                if (*given[0].as<std::int64_t>() == 37) {
                    throw std::out_of_range("at 37");
                }
                return none();
            },
            {m.get("i")});
        const auto loop =
            m.loop_over(node_kind::parallel_for, "i", m.range(m.get("n")), m.block({bad}));
        const auto f = m.finish(m.block({loop}));
        EXPECT_EQ(message_of<std::out_of_range>([&] { run(*f, {integer(100)}); }),
                  "f.py:2: in f: at 37");
        EXPECT_TRUE(run(*f, {integer(37)}).is_none());
    });
}

}  // namespace
