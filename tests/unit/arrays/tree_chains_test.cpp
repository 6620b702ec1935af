// SPDX-License-Identifier: BSL-1.0
// Chains of elementwise nodes are computed together: the bits, errors and effects are those of one
// node after the other.
#include "unit/arrays/tree_making.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace {

using namespace quern::arrays;
using quern_test::integer;
using quern_test::k_all_rules;
using quern_test::making;
using quern_test::message_of;
using quern_test::on_workers;
using quern_test::run;

/// Enough elements for a chain, in several parts.
constexpr std::ptrdiff_t k_many = 50'000;

array ramp(std::ptrdiff_t count) {
    array made(dtype::float64, {count});
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        made.data<double>()[i] = 0.5 + static_cast<double>(i) / 7;
    }
    return made;
}

template <class T>
bool same_elements(const array& a, const array& b) {
    const auto same = [](T x, T y) {
        return std::memcmp(&x, &y, sizeof x) == 0 || (x != x && y != y);
    };
    return std::equal(a.data<T>(), a.data<T>() + a.size(), b.data<T>(), same);
}

/// The same type, shape and bits; any not-a-number is as any other.
bool is_same(const value& one, const value& other) {
    const array* const a = one.as<array>();
    const array* const b = other.as<array>();
    if (a == nullptr || b == nullptr) {
        return one.index() == other.index() && describe(one) == describe(other);
    }
    if (a->type() != b->type() || !(a->shape() == b->shape()) || !a->is_contiguous() ||
        !b->is_contiguous()) {
        return false;
    }
    switch (a->type()) {
        case dtype::boolean:
            return same_elements<std::uint8_t>(*a, *b);
        case dtype::int32:
            return same_elements<std::int32_t>(*a, *b);
        case dtype::int64:
            return same_elements<std::int64_t>(*a, *b);
        case dtype::float32:
            return same_elements<float>(*a, *b);
        default:
            return same_elements<double>(*a, *b);
    }
}

/// The line of explain() with such a reason.
bool explains(const tree& f, const std::string& reason) {
    return f.explain().find(reason) != std::string::npos;
}

// -- random chains --------------------------------------------------------------------------------

/// An operation of terms, or the parameter `leaf`.
struct chain_term {
    std::string name{};
    std::size_t leaf = 0;
    std::vector<chain_term> parts{};
};

class chain_generator {
public:
    explicit chain_generator(unsigned seed) : m_random(seed) {
        const std::ptrdiff_t rows = 1 + below(60);
        const std::ptrdiff_t columns = std::array{1, 3, 150, 700, 6000}[below(5)];
        m_shapes = {{rows, columns},   {rows, columns}, {columns}, {rows, 1}, {1, columns}, {},
                    {2, rows, columns}};
        m_shapes.push_back({0, columns});
    }

    values leaves() {
        values made;
        for (int i = 0; i < 6; ++i) {
            made.push_back(leaf());
        }
        return made;
    }

    chain_term term(int depth = 0) {
        if (depth > 5 || (depth > 1 && below(4) == 0)) {
            return {{}, below(6), {}};
        }
        static constexpr std::array<const char*, 9> k_unary = {
            "abs", "negative", "sqrt", "exp", "sin", "logical_not", "square", "isnan", "floor"};
        static constexpr std::array<const char*, 13> k_binary = {
            "add",     "subtract", "multiply", "divide",    "maximum",     "less",     "power",
            "greater", "add",      "multiply", "remainder", "logical_and", "not_equal"};
        const std::size_t choice = below(10);
        if (choice < 2) {
            return {k_unary[below(k_unary.size())], 0, {term(depth + 1)}};
        }
        if (choice == 2) {
            return {below(2) == 0 ? "where" : "clip",
                    0,
                    {term(depth + 1), term(depth + 1), term(depth + 1)}};
        }
        return {k_binary[below(k_binary.size())], 0, {term(depth + 1), term(depth + 1)}};
    }

private:
    std::size_t below(std::size_t n) { return m_random() % n; }

    value leaf() {
        const std::size_t kind = below(12);
        if (kind == 0) {
            return std::int64_t{2};
        }
        if (kind == 1) {
            return 1.5;
        }
        // The first shapes are usual, the others seldom broadcast with them.
        const extents& shape = m_shapes[below(10) < 9 ? below(6) : below(m_shapes.size())];
        constexpr std::array k_types = {dtype::float64, dtype::float64, dtype::float64,
                                        dtype::float32, dtype::int32,   dtype::int64,
                                        dtype::boolean};
        return view_of(filled(k_types[below(k_types.size())], shape));
    }

    /// Small numbers, some of them not finite.
    array filled(dtype type, const extents& shape) {
        array whole(dtype::float64, shape);
        for (std::ptrdiff_t i = 0; i < whole.size(); ++i) {
            const std::size_t r = m_random();
            const double number = static_cast<double>(r % 4001) / 1000 - 1;
            const bool is_special = type == dtype::float64 && r % 997 == 0;
            constexpr double k_infinity = std::numeric_limits<double>::infinity();
            whole.data<double>()[i] =
                is_special ? (r % 2 == 0 ? k_infinity : std::nan("")) : number;
        }
        return *call("astype", {whole, type}).as<array>();
    }

    /// The array, or the same shape backwards in other memory.
    value view_of(const array& a) {
        if (a.dimensions() == 0 || below(3) != 0) {
            return a;
        }
        extents strides = a.strides();
        const std::size_t axis = below(a.dimensions());
        const std::ptrdiff_t last = std::max<std::ptrdiff_t>(a.shape()[axis] - 1, 0);
        const std::ptrdiff_t offset = last * strides[axis];
        strides[axis] = -strides[axis];
        return a.view(a.shape(), strides, offset);
    }

    std::mt19937 m_random;
    std::vector<extents> m_shapes{};
};

value walk_chain(const chain_term& t, const values& leaves) {
    switch (t.parts.size()) {
        case 0:
            return leaves[t.leaf];
        case 1:
            return call(t.name, {walk_chain(t.parts[0], leaves)});
        case 2: {
            const value first = walk_chain(t.parts[0], leaves);
            return call(t.name, {first, walk_chain(t.parts[1], leaves)});
        }
        default: {
            const value first = walk_chain(t.parts[0], leaves);
            const value second = walk_chain(t.parts[1], leaves);
            return call(t.name, {first, second, walk_chain(t.parts[2], leaves)});
        }
    }
}

tree::node chain_node(making& m, const chain_term& t) {
    if (t.parts.empty()) {
        return m.get("x" + std::to_string(t.leaf));
    }
    std::vector<tree::node> operands;
    for (const chain_term& each : t.parts) {
        operands.push_back(chain_node(m, each));
    }
    return m.op(t.name, operands);
}

/// What f() gives, or the message of its error without the place.
template <class F>
std::pair<value, std::string> outcome_of(F&& f) {
    try {
        return {f(), ""};
    } catch (const std::exception& error) {
        const std::string text = error.what();
        const std::size_t place = text.find(": in f: ");
        return {none(), place == std::string::npos ? text : text.substr(place + 8)};
    }
}

void compare_chain(unsigned seed) {
    chain_generator random(seed);
    const values leaves = random.leaves();
    const chain_term t = random.term();
    making m({"x0", "x1", "x2", "x3", "x4", "x5"});
    const auto f = m.finish(m.give(chain_node(m, t)));
    const auto [expected, error] = outcome_of([&] { return walk_chain(t, leaves); });
    for (const inlining_rule rule : {inlining_rule::never, inlining_rule::quern}) {
        const auto [got, its_error] = outcome_of([&] { return run(*f, leaves, rule); });
        EXPECT_EQ(its_error, error) << "seed " << seed;
        EXPECT_TRUE(is_same(got, expected))
            << "seed " << seed << ": " << describe(got) << " for " << describe(expected) << "\n"
            << f->explain();
    }
}

// Holds: tree: A chain of elementwise nodes gives the bits and the errors of one node after the
// other, whatever the shapes and types, on any number of workers.
TEST(tree_chains, random_chains_give_what_single_operations_give) {
    const unsigned first = std::random_device()();
    on_workers([&] {
        for (unsigned i = 0; i < 60 && !testing::Test::HasFailure(); ++i) {
            compare_chain(first + i);
        }
    });
    for (unsigned seed = 0; seed < 60 && !testing::Test::HasFailure(); ++seed) {
        compare_chain(seed);
    }
}

// -- single cases ---------------------------------------------------------------------------------

// Holds: tree: explain() and to_json() name the node that computed the elements of others.
TEST(tree_chains, inner_nodes_say_into_what_they_are_fused) {
    on_workers([] {
        making m({"x"});
        const auto inner = m.op("multiply", {m.get("x"), m.constant(value(2.0))});
        const auto middle = m.op("add", {inner, m.constant(value(1.0))});
        const auto f = m.finish(m.give(m.op("sqrt", {middle})));
        const array x = ramp(k_many);
        const value got = run(*f, {x});
        EXPECT_TRUE(is_same(got, call("sqrt", {call("add", {call("multiply", {x, 2.0}), 1.0})})));
        EXPECT_TRUE(explains(*f, "fused into sqrt of line 6")) << f->explain();
        EXPECT_NE(f->to_json().find("fused into sqrt of line 6"), std::string::npos);
        EXPECT_EQ(f->statistics(inner).evaluations, 1u);
        EXPECT_EQ(f->statistics(middle).evaluations, 1u);
        f->reset_statistics();
        run(*f, {ramp(10)});
        EXPECT_FALSE(explains(*f, "fused into")) << "few elements are computed at once";
    });
}

// Holds: tree: A node whose elements are still to be computed does not see changes in place that
// come behind it in the source.
TEST(tree_chains, later_changes_are_not_seen) {
    for (const inlining_rule rule : k_all_rules) {
        on_workers([&] {
            making m({"given"});
            const auto copy = m.set("a", m.op("copy", {m.get("given")}));
            const auto before = m.op("add", {m.get("a"), m.constant(value(1.0))});
            const auto change = m.op("iadd", {m.get("a"), m.constant(value(100.0))});
            const auto product = m.op("multiply", {before, m.op("negative", {change})});
            const auto f =
                m.finish(m.block({copy, m.give(m.op("sqrt", {m.op("abs", {product})}))}));
            const array given = ramp(k_many);
            const array got = *run(*f, {given}, rule).as<array>();
            for (std::ptrdiff_t i = 0; i < k_many; i += 777) {
                const double x = given.data<double>()[i];
                EXPECT_EQ(got.data<double>()[i], std::sqrt(std::fabs((x + 1) * -(x + 100))));
            }
        });
    }
}

// Holds: tree: A node whose elements are still to be computed does not see what a foreign function
// behind it in the source changes; one that was called before is seen.
TEST(tree_chains, foreign_changes_keep_their_order) {
    for (const inlining_rule rule : k_all_rules) {
        on_workers([&] {
            const array shared = ramp(k_many);
            const auto add_to_all = [shared](double by) {
                return [shared, by](std::span<const value>) {
                    for (std::ptrdiff_t i = 0; i < k_many; ++i) {
                        shared.data<double>()[i] += by;
                    }
                    return value(1.0);
                };
            };
            const double first = shared.data<double>()[3];
            making m({"x"});
            const auto early = m.op("add", {m.foreign(add_to_all(10), {}), m.get("x")});
            const auto late = m.op("multiply", {early, m.foreign(add_to_all(1000), {})});
            const auto f = m.finish(m.give(m.op("negative", {late})));
            const array got = *run(*f, {shared}, rule).as<array>();
            EXPECT_EQ(got.data<double>()[3], -(first + 10 + 1));
        });
    }
}

// Holds: tree: An error of an elementwise node comes before later operands are evaluated, also
// where its elements would be computed later.
TEST(tree_chains, errors_keep_their_order) {
    for (const inlining_rule rule : k_all_rules) {
        on_workers([&] {
            std::vector<int> notes;
            making m({"x", "y"});
            const auto good = m.op("add", {m.get("x"), m.constant(value(1.0))});
            const auto bad = m.op("multiply", {good, m.get("y")});
            const auto f = m.finish(m.give(m.op("subtract", {bad, m.note(notes, 1)})));
            EXPECT_EQ(message_of<std::invalid_argument>([&] {
                          run(*f, {ramp(k_many), ramp(k_many - 1)}, rule);
                      }),
                      "f.py:5: in f: operands could not be broadcast together with shapes (50000,) "
                      "(49999,)");
            EXPECT_TRUE(notes.empty());
            EXPECT_NO_THROW(run(*f, {ramp(k_many), 2.0}, rule));
            EXPECT_EQ(notes.size(), 1u);
        });
    }
}

// Holds: tree: A chain of any length and depth is computed.
TEST(tree_chains, long_chains_are_divided) {
    on_workers([] {
        making m({"x"});
        auto left = m.get("x");
        auto right = m.get("x");
        const array x = ramp(k_many);
        value expected_left = x;
        value expected_right = x;
        for (int i = 0; i < 100; ++i) {
            const double number = 0.5 + i;
            left = m.op(i % 2 == 0 ? "divide" : "add", {left, m.constant(value(number))});
            expected_left = call(i % 2 == 0 ? "divide" : "add", {expected_left, number});
            right = m.op("maximum", {m.op("square", {m.get("x")}), right});
            expected_right = call("maximum", {call("square", {x}), expected_right});
        }
        const auto f = m.finish(m.give(m.op("arctan2", {left, right})));
        EXPECT_TRUE(is_same(run(*f, {x}), call("arctan2", {expected_left, expected_right})));
    });
}

// Holds: tree: Results without elements, and without dimensions, are as those of single operations.
TEST(tree_chains, empty_and_single_results) {
    making m({"x", "y"});
    const auto f = m.finish(m.give(
        m.op("exp", {m.op("multiply", {m.op("add", {m.get("x"), m.get("y")}), m.get("y")})})));
    const auto expect = [&](const value& x, const value& y) {
        EXPECT_TRUE(
            is_same(run(*f, {x, y}), call("exp", {call("multiply", {call("add", {x, y}), y})})));
    };
    const array single = ramp(1).view({}, {});
    expect(ramp(0), 1.0);
    expect(single, single);
    expect(single, 2.0);
    expect(ramp(k_many), single);
    expect(ramp(k_many), ramp(1));
    expect(ramp(k_many).view({k_many, 1}, {8, 8}), ramp(0));
}

// Holds: tree: A node that is repeated along a dimension of its parent is computed once, as itself.
TEST(tree_chains, smaller_operands_are_repeated) {
    on_workers([] {
        making m({"column", "row"});
        const auto f = m.finish(m.give(
            m.op("add", {m.op("negative", {m.get("column")}), m.op("exp", {m.get("row")})})));
        const value column = ramp(5'000).view({5'000, 1}, {8, 8});
        const value row = call("divide", {ramp(6), 10.0});
        EXPECT_TRUE(is_same(run(*f, {column, row}),
                            call("add", {call("negative", {column}), call("exp", {row})})));
    });
}

}  // namespace
