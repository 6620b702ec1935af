// SPDX-License-Identifier: BSL-1.0
// What may run at the same time, and that its effects are those of the order of the source.
#include "unit/arrays/tree_making.hpp"

#include <numeric>

namespace {

using namespace quern::arrays;
using quern_test::integer;
using quern_test::k_all_rules;
using quern_test::making;
using quern_test::message_of;
using quern_test::number_of;
using quern_test::on_workers;
using quern_test::run;

/// Whether a node of a line was ever a task when the tree ran with the rule `never`.
bool was_task(const tree& f, tree::node n) {
    const node_statistics counted = f.statistics(n);
    return counted.inlined < counted.evaluations;
}

array zeros(std::ptrdiff_t count) {
    array made(dtype::float64, {count});
    std::fill_n(made.data<double>(), count, 0.0);
    return made;
}

// Holds: tree: Statements of a block that touch different variables may run at the same time.
TEST(tree_order, independent_statements_are_tasks) {
    on_workers([] {
        making m({"x"});
        const auto a = m.set("a", m.op("add", {m.get("x"), m.number(1)}));
        const auto b = m.set("b", m.op("add", {m.get("x"), m.number(2)}));
        const auto c = m.set("c", m.op("add", {m.get("a"), m.get("b")}));
        const auto f = m.finish(m.block({a, b, c, m.give(m.get("c"))}));
        EXPECT_EQ(number_of(run(*f, {integer(10)}, inlining_rule::never)), 23);
        EXPECT_TRUE(was_task(*f, a));
        EXPECT_TRUE(was_task(*f, b));
        EXPECT_FALSE(was_task(*f, c)) << "alone in its wave: only its operand is a task";
    });
}

// Holds: tree: Foreign functions are called in the order of the source, and not beside other
// nodes.
TEST(tree_order, foreign_functions_keep_their_order) {
    for (const inlining_rule rule : k_all_rules) {
        on_workers([&] {
            std::vector<int> notes;
            making m;
            std::vector<tree::node> statements;
            for (int i = 0; i < 20; ++i) {
                statements.push_back(m.set("v" + std::to_string(i), m.note(notes, i)));
                statements.push_back(
                    m.set("w" + std::to_string(i), m.op("add", {m.number(i), m.number(1)})));
            }
            const auto sum = m.op("add", {m.note(notes, 20), m.note(notes, 21)});
            statements.push_back(m.give(sum));
            EXPECT_EQ(number_of(run(*m.finish(m.block(statements)), {}, rule)), 41);
            std::vector<int> expected(22);
            std::iota(expected.begin(), expected.end(), 0);
            EXPECT_EQ(notes, expected);
        });
    }
}

// Holds: tree: Changes of arrays in place keep their order with all that may share their memory.
TEST(tree_order, changes_through_aliases_keep_their_order) {
    for (const inlining_rule rule : k_all_rules) {
        on_workers([&] {
            making m({"n"});
            const auto at = [&](const std::string& of, std::int64_t i) {
                return m.op("getitem", {m.get(of), m.number(i)});
            };
            const auto put = [&](const std::string& to, std::int64_t i, tree::node what) {
                return m.op("setitem", {m.get(to), m.number(i), what});
            };
            // a = zeros(4); b = a[1:3]; b[0] = 5; c = a[1] + 0; a[1] = 7; d = b[0] + c
            const auto make = m.set("a", m.op("zeros", {m.get("n")}));
            const auto middle =
                m.of(node_kind::make_slice, {m.number(1), m.number(3), m.constant(none())});
            const auto view = m.set("b", m.op("getitem", {m.get("a"), middle}));
            const auto first = put("b", 0, m.number(5));
            const auto read = m.set("c", m.op("add", {at("a", 1), m.number(0)}));
            const auto second = put("a", 1, m.number(7));
            const auto last = m.set("d", m.op("add", {at("b", 0), m.get("c")}));
            const auto f =
                m.finish(m.block({make, view, first, read, second, last, m.give(m.get("d"))}));
            for (int i = 0; i < 20; ++i) {
                const value got = run(*f, {integer(4)}, rule);
                ASSERT_TRUE(got.is<array>());
                EXPECT_EQ(*got.as<array>()->data<double>(), 12);
            }
        });
    }
}

TEST(tree_order, changes_of_fresh_arrays_are_independent) {
    making m({"n"});
    const auto make = [&](const char* name) { return m.set(name, m.op("zeros", {m.get("n")})); };
    const auto change = [&](const char* name, std::int64_t to) {
        return m.op("setitem", {m.get(name), m.number(0), m.number(to)});
    };
    const auto a = make("a");
    const auto b = make("b");
    const auto change_a = change("a", 1);
    const auto change_b = change("b", 2);
    const auto sum = m.op("add", {m.get("a"), m.get("b")});
    const auto f = m.finish(m.block({a, b, change_a, change_b, m.give(sum)}));
    const quern::runtime rt(quern::runtime_options::with_workers(2));
    const value got =
        quern::async(rt, [&] { return run(*f, {integer(2)}, inlining_rule::never); }).get();
    EXPECT_EQ(got.as<array>()->data<double>()[0], 3);
    EXPECT_TRUE(was_task(*f, change_a));
    EXPECT_TRUE(was_task(*f, change_b));
}

TEST(tree_order, changes_of_arguments_are_alone) {
    making m({"a", "b"});
    const auto change = [&](const char* name) {
        return m.op("setitem", {m.get(name), m.number(0), m.op("add", {m.number(1), m.number(2)})});
    };
    const auto first = change("a");
    const auto second = change("b");
    const auto f = m.finish(m.block({first, second}));
    const array shared = zeros(1);
    run(*f, {shared, shared}, inlining_rule::never);
    EXPECT_EQ(shared.data<double>()[0], 3);
    EXPECT_FALSE(was_task(*f, first));
    EXPECT_FALSE(was_task(*f, second));
    EXPECT_NE(f->explain().find("its effects keep the order of the source"), std::string::npos);
}

// Holds: tree: The error is that of the first failing node in the order of the source, and effects
// behind it do not happen.
TEST(tree_order, the_first_error_in_the_source_wins) {
    for (const inlining_rule rule : k_all_rules) {
        on_workers([&] {
            std::vector<int> notes;
            making m({"x", "y"});
            const auto index = [&](const char* of) {
                return m.op("getitem", {m.get("x"), m.get(of)});
            };
            // a = 0 + 0; b = x[a]; c = x[y]; d = x[y]; note
            const auto a = m.set("a", m.op("add", {m.number(100), m.number(0)}));
            const auto b = m.set("b", index("a"));  // in the second wave
            const auto c = m.set("c", index("y"));
            const auto d = m.set("d", index("y"));
            const auto note = m.set("e", m.note(notes, 1));
            const auto f = m.finish(m.block({a, b, c, d, note}));
            EXPECT_EQ(message_of<std::out_of_range>([&] {
                          run(*f, {zeros(3), integer(50)}, rule);
                      }).substr(0, 8),
                      "f.py:7: ");
            EXPECT_TRUE(notes.empty());
        });
    }
}

TEST(tree_order, a_return_ends_a_block_with_waves) {
    making m({"x"});
    const auto a = m.set("a", m.op("add", {m.get("x"), m.number(1)}));
    const auto b = m.set("b", m.op("add", {m.get("x"), m.number(2)}));
    const auto leave = m.of(node_kind::branch, {m.op("less", {m.get("a"), m.number(5)}),
                                                m.block({m.give(m.get("b"))})});
    const auto c = m.set("c", m.op("add", {m.get("a"), m.number(100)}));
    const auto d = m.set("d", m.op("add", {m.get("b"), m.number(100)}));
    const auto f = m.finish(m.block({a, b, leave, c, d, m.give(m.get("d"))}));
    for (const inlining_rule rule : k_all_rules) {
        EXPECT_EQ(number_of(run(*f, {integer(1)}, rule)), 3);
        EXPECT_EQ(number_of(run(*f, {integer(9)}, rule)), 111);
    }
}

// Holds: tree: A tree that is called is a node like others: one without effects may run beside
// others, one that changes arguments or calls foreign functions may not.
TEST(tree_order, called_trees_have_the_effects_of_their_nodes) {
    making pure({"x"}, "pure");
    const auto square = pure.finish(pure.give(pure.op("multiply", {pure.get("x"), pure.get("x")})));
    making change({"x"}, "change");
    const auto set_first = change.finish(change.block(
        {change.op("setitem", {change.get("x"), change.number(0), change.number(1)})}));
    making m({"x"});
    const auto a = m.set("a", m.call(square, {m.get("x")}));
    const auto b = m.set("b", m.call(square, {m.get("x")}));
    const auto c = m.set("c", m.call(set_first, {m.get("x")}));
    const auto d = m.set("d", m.call(set_first, {m.get("x")}));
    const auto f = m.finish(m.block({a, b, c, d}));
    const array x = zeros(1);
    run(*f, {x}, inlining_rule::never);
    EXPECT_TRUE(was_task(*f, a));
    EXPECT_TRUE(was_task(*f, b));
    EXPECT_FALSE(was_task(*f, c));
    EXPECT_FALSE(was_task(*f, d));
    EXPECT_EQ(x.data<double>()[0], 1);
}

}  // namespace
