// SPDX-License-Identifier: BSL-1.0
// Short words for building trees in tests.
#pragma once

#include <quern/arrays/tree.hpp>
#include <quern/scheduler/runtime.hpp>
#include <quern/task/async.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace quern_test {

using quern::arrays::inlining_rule;
using quern::arrays::node_kind;
using quern::arrays::tree;
using quern::arrays::value;

/// A tree in the making. Each node is on a line of its own, from 1 on.
class making {
public:
    using node = tree::node;
    using nodes = std::vector<node>;

    explicit making(std::vector<std::string> parameters = {}, std::string name = "f")
        : m_tree(std::make_shared<tree>(std::move(name), "f.py", std::move(parameters))) {}

    node constant(value of) { return m_tree->add_constant(std::move(of), here()); }
    node number(std::int64_t of) { return constant(value(of)); }
    node get(const std::string& variable) {
        return m_tree->add(node_kind::load, {}, here(), {}, m_tree->variable(variable));
    }
    node set(const std::string& variable, node to) {
        return m_tree->add(node_kind::store, {to}, here(), {}, m_tree->variable(variable));
    }
    node op(std::string_view name, nodes operands) {
        return m_tree->add(node_kind::call, std::move(operands), here(), name);
    }
    node of(node_kind kind, nodes operands = {}) {
        return m_tree->add(kind, std::move(operands), here());
    }
    node block(nodes statements) { return of(node_kind::block, std::move(statements)); }
    node give(node result) { return of(node_kind::result, {result}); }
    node range(node count) {
        return of(node_kind::make_slice,
                  {constant(quern::arrays::none()), count, constant(quern::arrays::none())});
    }
    node loop_over(node_kind kind, const std::string& variable, node over, node body) {
        return m_tree->add(kind, {over, body}, here(), {}, m_tree->variable(variable));
    }
    node item(node of, std::uint32_t which, std::string_view length = {}) {
        return m_tree->add(node_kind::item, {of}, here(), length, which);
    }
    node call(const std::shared_ptr<const tree>& other, nodes operands) {
        return m_tree->add_call_of(other, std::move(operands), here());
    }
    node foreign(quern::arrays::foreign_function function, nodes operands) {
        return m_tree->add_foreign(std::move(function), "foreign", std::move(operands), here());
    }
    /// A foreign function that notes a number when it is called.
    node note(std::vector<int>& in, int number) {
        return foreign(
            [&in, number](std::span<const value>) {
                in.push_back(number);
                return value(std::int64_t{number});
            },
            {});
    }

    const std::shared_ptr<tree>& self() const noexcept { return m_tree; }
    std::shared_ptr<const tree> finish(node root) {
        m_tree->finish(root);
        return m_tree;
    }

private:
    quern::arrays::source_range here() { return {++m_line, 0, m_line, 1}; }

    std::shared_ptr<tree> m_tree;
    int m_line = 0;
};

inline value run(const tree& f, const std::vector<value>& arguments = {},
                 inlining_rule rule = inlining_rule::settings) {
    return f(arguments, rule);
}

/// The number that a tree gives, or a number that none gives.
inline std::int64_t number_of(const value& of) {
    if (const auto* const number = of.as<std::int64_t>()) {
        return *number;
    }
    ADD_FAILURE() << "no integer: " << describe(of);
    return -987'654'321;
}

inline value integer(std::int64_t of) { return {of}; }

template <class Error, class F>
std::string message_of(F&& f) {
    try {
        f();
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was thrown";
}

/// Calls f on 1, 2 and 8 workers.
template <class F>
void on_workers(F&& f) {
    for (const unsigned workers : {1u, 2u, 8u}) {
        SCOPED_TRACE(workers);
        const quern::runtime rt(quern::runtime_options::with_workers(workers));
        quern::async(rt, [&] { f(); }).get();
    }
}

inline constexpr inlining_rule k_all_rules[] = {inlining_rule::never, inlining_rule::always,
                                                inlining_rule::baseline, inlining_rule::adaptive,
                                                inlining_rule::quern};

}  // namespace quern_test
