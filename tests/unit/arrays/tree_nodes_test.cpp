// SPDX-License-Identifier: BSL-1.0
// Every kind of node, what building refuses, and the places of errors.
#include "unit/arrays/tree_making.hpp"

#include <algorithm>

namespace {

using namespace quern::arrays;
using quern_test::integer;
using quern_test::making;
using quern_test::message_of;
using quern_test::number_of;
using quern_test::run;

/// What an expression over x gives.
template <class Expression>
value value_of(Expression&& expression, value x = integer(3)) {
    making m({"x"});
    const auto root = m.give(expression(m));
    return run(*m.finish(root), {std::move(x)});
}

// Holds: tree: A call gives what a node `result` that is reached gives, and None if there is none.
TEST(tree_nodes, gives_the_result_or_none) {
    EXPECT_EQ(number_of(value_of([](making& m) { return m.get("x"); })), 3);
    making m;
    EXPECT_TRUE(run(*m.finish(m.block({m.set("y", m.number(1))}))).is_none());
    making empty_return;
    EXPECT_TRUE(run(*empty_return.finish(empty_return.of(node_kind::result))).is_none());
}

TEST(tree_nodes, the_example_gives_six) {
    tree f("double_it", "notes.py", {"x"});
    const auto x = f.add(node_kind::load, {}, {2, 11, 2, 12}, {}, f.variable("x"));
    const auto two = f.add_constant(2.0, {2, 15, 2, 16});
    const auto product = f.add(node_kind::call, {x, two}, {2, 11, 2, 16}, "multiply");
    f.finish(f.add(node_kind::result, {product}, {2, 4, 2, 16}));
    const value three[] = {3.0};
    const value six = f(three);
    ASSERT_TRUE(six.is<double>());
    EXPECT_EQ(*six.as<double>(), 6);
}

TEST(tree_nodes, calls_primitives_with_their_defaults) {
    const value eight = value_of([](making& m) { return m.op("add", {m.get("x"), m.number(5)}); });
    EXPECT_EQ(number_of(eight), 8);
    const value clipped = value_of([](making& m) {
        return m.op("less", {m.op("clip", {m.get("x"), m.number(5)}), m.number(5)});
    });
    ASSERT_TRUE(clipped.is<array>() || clipped.is<bool>());
    EXPECT_FALSE(truth_of(clipped));
}

// Holds: tree: `both` and `either` give an operand, as `and` and `or` of Python do, and evaluate
// the second one only if the first does not decide.
TEST(tree_nodes, connectives_give_an_operand) {
    for (const std::int64_t x : {0, 3}) {
        std::vector<int> notes;
        making m({"x"});
        const auto both = m.of(node_kind::both, {m.get("x"), m.note(notes, 7)});
        const auto either = m.of(node_kind::either, {m.get("x"), m.note(notes, 8)});
        const auto f = m.finish(m.give(m.of(node_kind::make_tuple, {both, either})));
        const value pair = run(*f, {integer(x)});
        const values& elements = **pair.as<tuple>();
        EXPECT_EQ(number_of(elements.at(0)), x == 0 ? 0 : 7);
        EXPECT_EQ(number_of(elements.at(1)), x == 0 ? 8 : 3);
        EXPECT_EQ(notes, std::vector<int>{x == 0 ? 8 : 7});
    }
    const value negated =
        value_of([](making& m) { return m.of(node_kind::negation, {m.get("x")}); });
    ASSERT_TRUE(negated.is<bool>());
    EXPECT_FALSE(*negated.as<bool>());
}

TEST(tree_nodes, branches_take_one_way) {
    for (const bool way : {true, false}) {
        making m({"x"});
        const auto chosen = m.of(node_kind::branch, {m.get("x"), m.number(1), m.number(2)});
        EXPECT_EQ(number_of(run(*m.finish(m.give(chosen)), {value(way)})), way ? 1 : 2);
    }
    making alone({"x"});
    const auto then = alone.block({alone.give(alone.number(5))});
    const auto branch = alone.of(node_kind::branch, {alone.get("x"), then});
    const auto f = alone.finish(alone.block({branch}));
    EXPECT_EQ(number_of(run(*f, {value(true)})), 5);
    EXPECT_TRUE(run(*f, {value(false)}).is_none());
}

TEST(tree_nodes, tuples_are_made_and_taken_apart) {
    const auto second_of_two = [](making& m) {
        return m.item(m.of(node_kind::make_tuple, {m.get("x"), m.number(9)}), 1, "2");
    };
    EXPECT_EQ(number_of(value_of(second_of_two)), 9);
    const auto of_three = [](making& m) { return m.item(m.get("x"), 1, "3"); };
    array rows(dtype::float64, {3, 2});
    for (int i = 0; i < 6; ++i) {
        rows.data<double>()[i] = i;
    }
    const value row = value_of(of_three, rows);
    ASSERT_TRUE(row.is<array>());
    EXPECT_EQ(row.as<array>()->shape(), extents({2}));
    EXPECT_EQ(row.as<array>()->data<double>()[1], 3);
    const array two(dtype::float64, {2});
    EXPECT_EQ(message_of<std::invalid_argument>([&] { value_of(of_three, two); }),
              "f.py:2: in f: not enough values to unpack (expected 3, got 2)");
    const array four(dtype::float64, {4});
    EXPECT_EQ(message_of<std::invalid_argument>([&] { value_of(of_three, four); }),
              "f.py:2: in f: too many values to unpack (expected 3)");
    EXPECT_EQ(message_of<std::invalid_argument>([&] { value_of(of_three, integer(1)); }),
              "f.py:2: in f: cannot unpack 1");
}

TEST(tree_nodes, slices_have_integers_or_none) {
    const auto up_to_x = [](making& m) { return m.range(m.get("x")); };
    const value made = value_of(up_to_x);
    ASSERT_TRUE(made.is<slice>());
    EXPECT_FALSE(made.as<slice>()->start.has_value());
    EXPECT_EQ(made.as<slice>()->stop, 3);
    EXPECT_EQ(message_of<std::invalid_argument>([&] { value_of(up_to_x, value(1.5)); }),
              "f.py:4: in f: slice indices must be integers or None, not 1.5");
}

/// An array of ones in a variable, as no argument.
making::node set_ones(making& m, const std::string& variable, std::int64_t count) {
    return m.set(variable, m.op("ones", {m.number(count)}));
}

std::vector<double> elements_of(const value& of) {
    const auto* const a = of.as<array>();
    if (a == nullptr || a->owner().use_count() == 0) {
        ADD_FAILURE() << "no array that keeps its memory: " << describe(of);
        return {};
    }
    std::vector<double> all;
    for (std::ptrdiff_t i = 0; i < a->size(); ++i) {
        all.push_back(*reinterpret_cast<const double*>(a->bytes() + i * a->strides()[0]));
    }
    return all;
}

// Holds: tree: A view keeps the memory of a variable that has another value since, in a loop too.
TEST(tree_nodes, views_of_variables_keep_their_memory) {
    making m;
    const auto part = m.op("getitem", {m.get("x"), m.range(m.number(2))});
    const auto f = m.finish(m.block({set_ones(m, "x", 3), m.set("y", part), m.set("x", m.number(0)),
                                     set_ones(m, "z", 3), m.op("imul", {m.get("z"), m.number(7)}),
                                     m.give(m.get("y"))}));
    EXPECT_EQ(elements_of(run(*f)), (std::vector<double>{1, 1}));
    making loop({"from", "to"});
    const auto row = loop.set("row", loop.op("getitem", {loop.get("x"), loop.get("i")}));
    const auto store = loop.op("setitem", {loop.get("to"), loop.get("i"), loop.get("row")});
    const auto body =
        loop.block({loop.set("x", loop.op("multiply", {loop.get("from"), loop.number(2)})), row,
                    loop.set("x", loop.number(0)), store});
    const auto g = loop.finish(loop.block(
        {loop.loop_over(node_kind::parallel_for, "i", loop.range(loop.number(4)), body)}));
    const array from(dtype::float64, {4});
    const array to(dtype::float64, {4});
    std::fill_n(from.data<double>(), 4, 1.5);
    run(*g, {from, to});
    EXPECT_EQ(elements_of(to), (std::vector<double>{3, 3, 3, 3}));
}

// Holds: tree: Operands have the values of their time, though a later one stores the variable.
TEST(tree_nodes, an_operand_may_store_the_variable_of_another) {
    making m;
    const auto store = m.of(node_kind::either, {set_ones(m, "x", 1), m.number(5)});
    const auto sum = m.op("add", {m.get("x"), store});
    const auto f = m.finish(m.block({set_ones(m, "x", 3), m.give(sum)}));
    EXPECT_EQ(elements_of(run(*f)), (std::vector<double>{6, 6, 6}));
}

// Holds: tree: Errors of nodes have "file:line: in name: " before their message and keep their
// type; exceptions of other types pass unchanged.
TEST(tree_nodes, errors_have_their_place) {
    making m({"x"});
    const auto sum = m.op("add", {m.get("x"), m.constant(array(dtype::float64, {3}))});
    const auto f = m.finish(m.give(sum));
    EXPECT_EQ(message_of<std::invalid_argument>([&] {
                  run(*f, {array(dtype::float64, {2})});
              }).substr(0, 12),
              "f.py:3: in f");
    making unset;
    const auto load = unset.give(unset.get("y"));
    const auto g = unset.finish(load);
    EXPECT_EQ(message_of<std::invalid_argument>([&] { run(*g); }),
              "f.py:1: in f: the variable `y` has no value yet");
}

struct strange_error {
    int number;
};

TEST(tree_nodes, foreign_exceptions_pass) {
    making m;
    const auto called =
        m.foreign([](std::span<const value>) -> value { throw strange_error{42}; }, {});
    const auto inner = m.finish(m.give(called));
    making outer;
    const auto f = outer.finish(outer.give(outer.call(inner, {})));
    try {
        run(*f);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const strange_error& error) {
        EXPECT_EQ(error.number, 42);
    }
}

TEST(tree_nodes, errors_in_called_trees_have_one_place) {
    making m({"y"}, "inner");
    const auto inner = m.finish(m.give(m.get("z")));
    making outer({"x"}, "outer");
    const auto f = outer.finish(outer.give(outer.call(inner, {outer.get("x")})));
    EXPECT_EQ(message_of<std::invalid_argument>([&] { run(*f, {integer(1)}); }),
              "f.py:1: in inner: the variable `z` has no value yet");
}

/// What building says of a step.
template <class Step>
std::string refusal(Step&& step) {
    making m({"x"});
    return message_of<std::invalid_argument>([&] { step(m); });
}

// Holds: tree: Building refuses a wrong number of operands, operands that do not exist or have a
// parent already, unknown primitives, and control where a value is needed.
TEST(tree_building, refuses_wrong_operands) {
    EXPECT_EQ(refusal([](making& m) { m.of(node_kind::store); }),
              "f.py:1: in f: a node `store` takes 1 operands, not 0");
    EXPECT_EQ(refusal([](making& m) { m.of(node_kind::branch, {m.get("x")}); }),
              "f.py:2: in f: a node `branch` takes 2 to 3 operands, not 1");
    EXPECT_EQ(refusal([](making& m) { m.of(node_kind::negation, {17}); }),
              "f.py:1: in f: operand 17 of `negation` does not exist: the tree has 0 nodes");
    const auto shared = [](making& m) {
        const auto x = m.get("x");
        m.of(node_kind::negation, {x});
        m.of(node_kind::negation, {x});
    };
    EXPECT_EQ(refusal(shared), "f.py:3: in f: operand 0 of `negation` has a parent already");
    const auto twice = [](making& m) {
        const auto x = m.get("x");
        m.of(node_kind::both, {x, x});
    };
    EXPECT_EQ(refusal(twice), "f.py:2: in f: operand 0 of `both` has a parent already");
}

TEST(tree_building, refuses_unknown_primitives_and_their_operands) {
    const std::string unknown = refusal([](making& m) { m.op("addd", {m.get("x")}); });
    EXPECT_NE(unknown.find("f.py:2: in f: there is no primitive `addd`"), std::string::npos);
    EXPECT_NE(unknown.find("did you mean 'add'?"), std::string::npos);
    const std::string few = refusal([](making& m) { m.op("add", {m.get("x")}); });
    EXPECT_EQ(few.substr(0, 38), "f.py:2: in f: `add` needs its operand ");
    const std::string many = refusal([](making& m) {
        m.op("add", {m.get("x"), m.get("x"), m.get("x")});
    });
    EXPECT_EQ(many, "f.py:4: in f: `add` takes at most 2 operands, not 3");
}

TEST(tree_building, refuses_control_in_wrong_places) {
    EXPECT_EQ(refusal([](making& m) { m.set("y", m.give(m.get("x"))); }),
              "f.py:2: in f: `return` where a value is needed");
    EXPECT_EQ(refusal([](making& m) { m.finish(m.block({m.of(node_kind::leave)})); }),
              "f.py:2: in f: `break` or `continue` outside of a loop");
    const auto parallel = [](making& m) {
        const auto body = m.block({m.of(node_kind::leave)});
        m.loop_over(node_kind::parallel_for, "i", m.range(m.get("x")), body);
    };
    EXPECT_EQ(refusal(parallel),
              "f.py:2: in f: `break` in a parallel loop, whose iterations have no order");
    EXPECT_EQ(refusal([](making& m) { m.item(m.get("x"), 0, "two"); }),
              "f.py:2: in f: the name of a node `item` is a number of elements, not `two`");
}

TEST(tree_building, refuses_what_is_incomplete) {
    EXPECT_THROW(tree("f", "f.py", {"x", "x"}), std::invalid_argument);
    making m;
    EXPECT_THROW(run(*m.self()), std::logic_error);
    EXPECT_THROW(m.self()->explain(), std::logic_error);
    EXPECT_THROW(m.finish(99), std::invalid_argument);
    const auto f = m.finish(m.give(m.number(1)));
    EXPECT_THROW(m.number(2), std::logic_error);
    EXPECT_EQ(message_of<std::invalid_argument>([&] { run(*f, {integer(1)}); }),
              "quern: f() takes 0 arguments, not 1");
    making other;
    EXPECT_THROW(other.call(f, {other.number(1)}), std::invalid_argument);
    EXPECT_THROW(other.call(nullptr, {}), std::invalid_argument);
    EXPECT_THROW(other.foreign(nullptr, {}), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(f->statistics(1234)), std::invalid_argument);
}

}  // namespace
