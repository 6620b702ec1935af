// SPDX-License-Identifier: BSL-1.0
// Random programs: what a tree gives, by every rule and on several workers, is what a serial walk
// of the same program gives.
#include "unit/arrays/tree_making.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

namespace {

using namespace quern::arrays;
using quern_test::integer;
using quern_test::k_all_rules;
using quern_test::making;
using quern_test::on_workers;
using quern_test::run;

/// A program over variables v0 … that hold integers and a0 … that hold arrays of numbers: few, or
/// so many that chains of elementwise nodes are computed together.
struct term {
    /// n number, v variable, e element of an array, w all elements of one, + - * of two terms
    char kind = 'n';
    std::int64_t number = 0;
    std::string name{};
    std::vector<term> parts{};
};

struct statement {
    /// = store, a new array, w array of a term, & alias, [ change of an element, f for, i if, b
    /// break, c continue, r return
    char kind = '=';
    std::string name{};
    std::vector<term> terms{};
    std::vector<statement> body{};
};

constexpr std::int64_t k_few = 4;
constexpr std::int64_t k_many = 4'100;
constexpr int k_variables = 5;
constexpr int k_arrays = 4;

class generator {
public:
    explicit generator(unsigned seed) : m_length(seed % 4 == 0 ? k_many : k_few), m_random(seed) {}

    std::int64_t length() const noexcept { return m_length; }

    std::vector<statement> program() {
        std::vector<statement> made;
        for (int i = 0; i < k_variables; ++i) {
            made.push_back({'=', number_name(i), {number()}, {}});
        }
        for (int i = 0; i < k_arrays; ++i) {
            made.push_back({'a', array_name(i), {}, {}});
        }
        add_statements(made, 12, 0);
        return made;
    }

private:
    int below(int n) { return static_cast<int>(m_random() % static_cast<unsigned>(n)); }
    static std::string number_name(int i) { return "v" + std::to_string(i); }
    static std::string array_name(int i) { return "a" + std::to_string(i); }
    term number() { return {'n', below(7) - 3, {}, {}}; }

    term any_term(int depth) {
        const int choice = below(depth > 2 ? 3 : 6);
        if (choice == 0) {
            return number();
        }
        if (choice == 1) {
            return {'e', below(k_few), array_name(below(k_arrays)), {}};
        }
        if (choice == 2) {
            return {'v', 0, number_name(below(k_variables)), {}};
        }
        return {"+-*" [choice - 3], 0, {}, {any_term(depth + 1), any_term(depth + 1)}};
    }

    statement any_statement(int depth, bool in_loop) {
        const int choice = below(depth < 3 ? 12 : 8);
        if (choice == 0) {
            return {'w', array_name(below(k_arrays)), {array_term(0)}, {}};
        }
        if (choice < 4) {
            return {'=', number_name(below(k_variables)), {any_term(0)}, {}};
        }
        if (choice < 6) {
            term at{'n', below(k_few), {}, {}};
            return {'[', array_name(below(k_arrays)), {at, any_term(0)}, {}};
        }
        if (choice == 6) {
            return {
                '&', array_name(below(k_arrays)), {{'v', 0, array_name(below(k_arrays)), {}}}, {}};
        }
        if (choice == 7) {
            const bool control = in_loop && below(3) == 0;
            return control ? statement{"bc" [below(2)], {}, {}, {}}
                           : statement{'a', array_name(below(k_arrays)), {}, {}};
        }
        if (choice == 11 && below(6) == 0) {
            return {'r', {}, {any_term(0)}, {}};
        }
        statement made{choice < 10 ? 'i' : 'f', "i" + std::to_string(depth), {}, {}};
        if (made.kind == 'i') {
            made.terms.push_back(any_term(1));
        } else {
            made.terms.push_back({'n', below(4), {}, {}});
        }
        add_statements(made.body, 1 + below(5), depth + 1, in_loop || made.kind == 'f');
        return made;
    }

    void add_statements(std::vector<statement>& to, int count, int depth, bool in_loop = false) {
        for (int i = 0; i < count; ++i) {
            to.push_back(any_statement(depth, in_loop));
        }
    }

    /// A chain over all elements: each operand is an array, a number or a variable.
    term array_term(int depth) {
        if (depth > 3 || (depth > 0 && below(3) == 0)) {
            const int choice = below(4);
            return choice == 0   ? number()
                   : choice == 1 ? term{'v', 0, number_name(below(k_variables)), {}}
                                 : term{'w', 0, array_name(below(k_arrays)), {}};
        }
        term made{"+-*" [below(3)], 0, {}, {array_term(depth + 1), array_term(depth + 1)}};
        if (depth == 0) {  // an array, whatever the others are
            made.parts[0] = {
                '+', 0, {}, {{'w', 0, array_name(below(k_arrays)), {}}, made.parts[0]}};
        }
        return made;
    }

    const std::int64_t m_length;
    std::mt19937 m_random;
};

/// As numbers modulo a prime, so that products stay small.
constexpr double k_prime = 10'007;

// -- the serial walk ------------------------------------------------------------------------------

/// Of an operation of two numbers.
double combined(char kind, double a, double b) {
    const double c = kind == '+' ? a + b : kind == '-' ? a - b : a * b;
    return c - std::floor(c / k_prime) * k_prime;
}

struct walk {
    std::int64_t length = k_few;
    std::map<std::string, double> numbers{};
    std::map<std::string, std::shared_ptr<std::vector<double>>> arrays{};
    double result = 0;

    double of(const term& t) {
        switch (t.kind) {
            case 'n':
                return static_cast<double>(t.number);
            case 'v':
                return numbers.at(t.name);
            case 'e':
                return arrays.at(t.name)->at(static_cast<std::size_t>(t.number));
            default:
                break;
        }
        return combined(t.kind, of(t.parts[0]), of(t.parts[1]));
    }

    std::vector<double> all_of(const term& t) {
        if (t.kind == 'w') {
            return *arrays.at(t.name);
        }
        if (t.parts.empty()) {
            return std::vector<double>(static_cast<std::size_t>(length), of(t));
        }
        std::vector<double> a = all_of(t.parts[0]);
        const std::vector<double> b = all_of(t.parts[1]);
        std::transform(a.begin(), a.end(), b.begin(), a.begin(),
                       [&](double x, double y) { return combined(t.kind, x, y); });
        return a;
    }

    char all(const std::vector<statement>& program) {
        for (const statement& each : program) {
            const char how = one(each);
            if (how != '.') {
                return how;
            }
        }
        return '.';
    }

    char one(const statement& s) {
        switch (s.kind) {
            case '=':
                numbers[s.name] = of(s.terms[0]);
                return '.';
            case 'a':
                arrays[s.name] = std::make_shared<std::vector<double>>(length);
                return '.';
            case 'w':
                arrays[s.name] = std::make_shared<std::vector<double>>(all_of(s.terms[0]));
                return '.';
            case '&':
                arrays[s.name] = arrays.at(s.terms[0].name);
                return '.';
            case '[':
                arrays.at(s.name)->at(static_cast<std::size_t>(s.terms[0].number)) = of(s.terms[1]);
                return '.';
            case 'i':
                return of(s.terms[0]) > 1 ? all(s.body) : '.';
            case 'f':
                for (std::int64_t i = 0; i < s.terms[0].number; ++i) {
                    const char how = all(s.body);
                    if (how == 'r') {
                        return how;
                    }
                    if (how == 'b') {
                        break;
                    }
                }
                return '.';
            case 'r':
                result = of(s.terms[0]);
                return 'r';
            default:
                return s.kind;
        }
    }
};

// -- the tree -------------------------------------------------------------------------------------

class translation {
public:
    explicit translation(std::int64_t length) : m_length(length) {}

    std::shared_ptr<const tree> of(const std::vector<statement>& program) {
        std::vector<tree::node> all = statements(program);
        all.push_back(m.give(state()));
        return m.finish(m.block(all));
    }

private:
    tree::node state() {
        std::vector<tree::node> parts;
        for (int i = 0; i < k_variables; ++i) {
            parts.push_back(m.get("v" + std::to_string(i)));
        }
        for (int i = 0; i < k_arrays; ++i) {
            parts.push_back(m.get("a" + std::to_string(i)));
        }
        return m.of(node_kind::make_tuple, parts);
    }

    tree::node expression(const term& t) {
        switch (t.kind) {
            case 'n':
                return m.constant(value(static_cast<double>(t.number)));
            case 'v':
            case 'w':
                return m.get(t.name);
            case 'e':
                return m.op("getitem", {m.get(t.name), m.number(t.number)});
            default:
                break;
        }
        const tree::node a = expression(t.parts[0]);
        const tree::node b = expression(t.parts[1]);
        const char* const name = t.kind == '+' ? "add" : t.kind == '-' ? "subtract" : "multiply";
        return m.op("remainder", {m.op(name, {a, b}), m.constant(value(k_prime))});
    }

    std::vector<tree::node> statements(const std::vector<statement>& program) {
        std::vector<tree::node> made;
        for (const statement& each : program) {
            made.push_back(one(each));
        }
        return made;
    }

    tree::node one(const statement& s) {
        switch (s.kind) {
            case '=':
            case 'w':
                return m.set(s.name, expression(s.terms[0]));
            case 'a':
                return m.set(s.name, m.op("zeros", {m.number(m_length)}));
            case '&':
                return m.set(s.name, m.get(s.terms[0].name));
            case '[': {
                const tree::node to = m.get(s.name);
                const tree::node at = m.number(s.terms[0].number);
                return m.op("setitem", {to, at, expression(s.terms[1])});
            }
            case 'i': {
                const tree::node what =
                    m.op("greater", {expression(s.terms[0]), m.constant(value(1.0))});
                return m.of(node_kind::branch, {what, m.block(statements(s.body))});
            }
            case 'f':
                return m.loop_over(node_kind::for_each, s.name,
                                   m.range(m.number(s.terms[0].number)),
                                   m.block(statements(s.body)));
            case 'r':
                return m.give(expression(s.terms[0]));
            case 'b':
                return m.of(node_kind::leave);
            default:
                return m.of(node_kind::next);
        }
    }

    const std::int64_t m_length;
    making m;
};

double number_in(const value& of) {
    if (const double* const number = of.as<double>()) {
        return *number;
    }
    const array* const element = of.as<array>();
    return element != nullptr && element->dimensions() == 0 ? *element->data<double>() : -12345;
}

/// Without SCOPED_TRACE, which belongs to a thread: a task may continue on another one.
void expect_same(const value& got, const walk& expected, bool has_returned,
                 const std::string& where) {
    if (has_returned) {
        EXPECT_EQ(number_in(got), expected.result) << where;
        return;
    }
    ASSERT_TRUE(got.is<tuple>()) << where;
    const values& all = **got.as<tuple>();
    for (int i = 0; i < k_variables; ++i) {
        EXPECT_EQ(number_in(all[static_cast<std::size_t>(i)]),
                  expected.numbers.at("v" + std::to_string(i)))
            << where << ", v" << i;
    }
    for (int i = 0; i < k_arrays; ++i) {
        const array& a = *all[static_cast<std::size_t>(k_variables + i)].as<array>();
        const std::vector<double>& wanted = *expected.arrays.at("a" + std::to_string(i));
        ASSERT_EQ(a.size(), expected.length) << where << ", a" << i;
        const auto differs = std::mismatch(wanted.begin(), wanted.end(), a.data<double>());
        EXPECT_EQ(differs.first - wanted.begin(), expected.length)
            << where << ", a" << i << " from that element on";
    }
}

/// Runs the program of a seed by every rule.
void compare(unsigned seed) {
    generator random(seed);
    const std::vector<statement> program = random.program();
    walk serial{.length = random.length()};
    const bool has_returned = serial.all(program) == 'r';
    const auto f = translation(random.length()).of(program);
    for (const inlining_rule rule : k_all_rules) {
        const std::string where =
            "seed " + std::to_string(seed) + ", rule " + std::to_string(static_cast<int>(rule));
        for (int i = 0; i < 2; ++i) {
            expect_same(run(*f, {}, rule), serial, has_returned, where);
        }
    }
}

// Holds: tree: A call gives what the nodes give when they are evaluated one after the other in the
// order of the source, by every rule and on any number of workers.
TEST(tree_random, programs_give_what_a_serial_walk_gives) {
    const unsigned first = std::random_device()();
    on_workers([&] {
        for (unsigned i = 0; i < 150 && !testing::Test::HasFailure(); ++i) {
            compare(first + i);
        }
    });
    for (unsigned seed = 0; seed < 50; ++seed) {
        compare(seed);
    }
}

}  // namespace
