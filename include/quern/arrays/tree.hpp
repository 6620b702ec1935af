// SPDX-License-Identifier: BSL-1.0
// A function over arrays as a tree of nodes that run as tasks or in their parent's place.
#pragma once

#include <quern/arrays/primitive.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quern::arrays {

namespace detail {
struct tree_parts;
}

/// What a node does. Operands are nodes; `name` and `slot` where they are said.
enum class node_kind : std::uint8_t {
    constant,      ///< a value
    load,          ///< the variable `slot`; an error if it has no value yet, with its name
    store,         ///< variable `slot` = operand 0; gives None
    block,         ///< operands one after the other; independent ones at the same time. Gives None
    branch,        ///< operand 0 true? operand 1 : operand 2 (which may be missing)
    loop,          ///< while operand 0: operand 1
    for_each,      ///< for variable `slot` in operand 0: operand 1. A slice counts as range(start,
                   ///< stop, step) does; a tuple gives its elements, an array its rows
    parallel_for,  ///< the same, iterations as tasks in any order; variables stored in the body
                   ///< belong to the iteration and begin without a value
    leave,         ///< break
    next,          ///< continue
    result,        ///< return operand 0
    call,          ///< primitive `name` of the operands
    both,          ///< `and`: operand 0 if it is false, else operand 1
    either,        ///< `or`
    negation,      ///< `not`
    make_tuple,    ///< of the operands
    make_slice,    ///< start, stop, step
    item,          ///< element `slot` of the tuple or array that operand 0 gives; `name` says how
                   ///< many it must have, "3", or nothing
    call_tree,     ///< another tree with the operands as arguments
    call_foreign   ///< a function of another language with the operands
};

/// Where a node is in the source: lines from 1, columns from 0, as Python counts.
struct source_range {
    int line = 0;
    int column = 0;
    int end_line = 0;
    int end_column = 0;
};

/// How nodes are decided about; docs/inlining.md. `settings`: the setting "inlining".
enum class inlining_rule : std::uint8_t { settings, never, always, baseline, adaptive, quern };

/// Statistics of a node over all runs of its tree. Constants and loads are not counted. Times are
/// estimates from a sample where evaluations are short. The elements of a node that is fused into
/// another one, which explain() names, belong to the time of that one.
struct node_statistics {
    std::uint64_t evaluations = 0;
    std::uint64_t inlined = 0;       ///< evaluations in the parent's place
    std::uint64_t inclusive_ns = 0;  ///< with the operands and waits for them
    std::uint64_t exclusive_ns = 0;  ///< without
};

/// A function of another language: gets the arguments, gives the result, may throw.
using foreign_function = std::function<value(std::span<const value>)>;

/// A function: built node by node, operands before their parent; then finished; then called. What
/// runs at the same time gives what the order of the source gives (src/arrays/tree/README.md).
///
///     using namespace quern::arrays;
///     tree f("double_it", "notes.py", {"x"});
///     const auto x = f.add(node_kind::load, {}, {2, 11, 2, 12}, {}, f.variable("x"));
///     const auto two = f.add_constant(2.0, {2, 15, 2, 16});
///     const auto product = f.add(node_kind::call, {x, two}, {2, 11, 2, 16}, "multiply");
///     f.finish(f.add(node_kind::result, {product}, {2, 4, 2, 16}));
///     const value three[] = {3.0};
///     value six = f(three);
class tree {
public:
    using node = std::uint32_t;
    static constexpr node k_none = ~node(0);

    /// An empty tree. `parameters` become the first variables, in order. `language` is shown by
    /// reports. Throws std::invalid_argument for a parameter that is there twice.
    tree(std::string name, std::string file, const std::vector<std::string>& parameters,
         std::string language = "Python");
    ~tree();
    tree(tree&&) noexcept;
    tree& operator=(tree&&) noexcept;

    /// The number of a variable, made when there is none of that name.
    std::uint32_t variable(std::string_view name);

    node add_constant(value of, const source_range& where);
    /// Throws std::invalid_argument: a wrong number of operands, an operand that does not exist or
    /// has a parent already, a primitive that does not exist, break, continue or return where a
    /// value is needed. A call may have fewer operands than its primitive has parameters: the last
    /// ones get their defaults. All functions that add throw std::logic_error after finish().
    node add(node_kind kind, std::vector<node> operands, const source_range& where,
             std::string_view name = {}, std::uint32_t slot = 0);
    /// `other` may be this tree, which is not kept alive then, or one that is finished later. Two
    /// trees that call each other keep each other alive until one is assigned to.
    node add_call_of(std::shared_ptr<const tree> other, std::vector<node> operands,
                     const source_range& where);
    node add_foreign(foreign_function function, std::string_view name, std::vector<node> operands,
                     const source_range& where);
    /// The last step: what a call runs. Nothing can be added afterwards. Throws
    /// std::invalid_argument for break or continue outside of a loop.
    void finish(node root);

    /// Runs the function. Called in a task or from a plain thread, which then takes a worker's
    /// place (docs/choosing.md). Thread safe: calls may run at the same time and recurse.
    ///
    /// Errors: that of the first node in the order of the source. The standard's exceptions and
    /// those of errors.hpp get "file:line: in name: " before their message; others pass unchanged.
    /// std::invalid_argument for a wrong number of arguments; std::overflow_error for calls nested
    /// more than 150 000 deep; task_cancelled when the calling task is asked to stop.
    /// Cost: about 1 us from a plain thread, 0.1 us in a task, and some 10 ns for each node.
    value operator()(std::span<const value> arguments,
                     inlining_rule rule = inlining_rule::settings) const;

    const std::string& name() const noexcept;
    std::size_t nodes() const noexcept;
    node_statistics statistics(node of) const;
    void reset_statistics() const noexcept;
    /// Text: each node with its place, evaluations, mean times, how much of it was inlined and why.
    /// The source lines are read from the file if it can be read. explain() and to_...() throw
    /// std::logic_error before finish(), and may be called while the tree runs.
    std::string explain() const;
    std::string to_dot() const;
    std::string to_newick() const;
    std::string to_json() const;

private:
    friend struct detail::tree_parts;
    std::unique_ptr<detail::tree_parts> m_parts;
};

}  // namespace quern::arrays
