// SPDX-License-Identifier: BSL-1.0
// Whether a node becomes a task: the rules of docs/inlining.md for nodes of trees. Called before
// and after evaluations, on workers.
#pragma once

#include "tree/frame.hpp"

#include <string>

namespace quern::arrays::detail {

/// The rule of a call from outside of trees. On a worker, in a task. Some ns; once in the process
/// some 10 us, in which empty tasks run.
call_rule rule_of_call(inlining_rule wanted);

/// From now on the setting "inlining" of runtimes that begin is known. Thread safe.
void observe_inlining_setting() noexcept;

/// Whether the node's evaluation should be a task, if there is something to run beside it or the
/// rule has tasks alone. Requires: it may be one.
bool wants_task(const frame& f, const node_data& n) noexcept;

/// An evaluation took so long. Requires: the node may be a task.
void note_evaluation(const frame& f, const node_data& n, tick_count time) noexcept;

/// Why the node is decided about as it is, for explain().
std::string reason_of(const tree_parts& all, const node_data& n);

std::string_view name_of(inlining_rule rule) noexcept;

}  // namespace quern::arrays::detail
