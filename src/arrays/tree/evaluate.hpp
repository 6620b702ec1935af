// SPDX-License-Identifier: BSL-1.0
// Evaluation of nodes: recursive calls on the stack of the task that evaluates, which is continued
// on fresh stacks where it runs low. Control that leaves a node is its result, not an exception.
#pragma once

#include "tree/frame.hpp"

#include <quern/base/detail/config.hpp>

namespace quern::arrays::detail {

/// When a timed evaluation began, and when it had its operands; 0: not yet.
struct node_times {
    tick_count begun = 0;
    tick_count has_operands = 0;
};

inline void operands_are_there(node_times* times) noexcept {
    if (times != nullptr) {
        times->has_operands = quern::detail::ticks();
    }
}

/// Of nodes that are more than a constant or a variable.
flow evaluate_counted(frame& f, const node_data& n, value& out);

[[noreturn]] QUERN_COLD void refuse_empty(const frame& f, const node_data& n);

/// Throws task_cancelled if the task that calls the tree should stop. Some ns.
void poll_stop(const frame& f);

/// Evaluates a node in the caller's place. `out` is its value if the flow is `on`, and what the
/// function returns if it is `result`.
inline flow evaluate(frame& f, const node_data& n, value& out) {
    if (n.kind == node_kind::constant) {
        out = n.constant;
        return flow::on;
    }
    if (n.kind == node_kind::load) {
        const variable& from = f.at(n.slot);
        if (!from.has_value()) [[unlikely]] {
            refuse_empty(f, n);
        }
        out = *from;
        return flow::on;
    }
    return evaluate_counted(f, n, out);
}

/// Runs a node as a task and waits for it, if its rule wants that of a node with nothing beside it.
flow evaluate_alone(frame& f, const node_data& n, value& out);

/// Evaluates an operand whose turn it is, with nothing beside it.
inline flow evaluate_operand(frame& f, const node_data& n, std::size_t i, value& out) {
    const node_data& operand = f.operand(n, i);
    return f.how.tasks_alone && operand.may_be_task ? evaluate_alone(f, operand, out)
                                                    : evaluate(f, operand, out);
}

/// Evaluates all operands of an expression, some of them at the same time; `outs` has a place for
/// each.
flow evaluate_all(frame& f, const node_data& n, value* outs);

/// The operands of an expression or of a block, by waves. A block drops their values (`outs` is
/// null) but what it returns.
flow evaluate_waves(frame& f, const node_data& n, value* outs, value* returned);

bool truth_at(const frame& f, const node_data& n, const value& of);

flow evaluate_while(frame& f, const node_data& n, value& out);
flow evaluate_for(frame& f, const node_data& n, value& out);
flow evaluate_parallel_for(frame& f, const node_data& n, value& out);
/// Element i of a tuple, or row i of an array. Requires: there is one.
value element_of(const value& of, std::int64_t i);
/// How many elements can be taken from the value; below 0: none can.
std::int64_t length_of(const value& of) noexcept;

/// Runs the root of a frame's tree and gives what it returns.
value run_body(frame& f);

}  // namespace quern::arrays::detail
