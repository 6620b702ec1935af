// SPDX-License-Identifier: BSL-1.0
// Holds: a task whose function has returned is complete when the last hold on it has been dropped
// too. For operations that a task begins and that end elsewhere, such as messages and transfers.
// Users take holds with this_task::hold() (task/task_hold.hpp).
#pragma once

#include <quern/scheduler/detail/hold_count.hpp>

namespace quern::detail {

struct task_record;

class task_holds final : public hold_count<std_atomics> {};

/// The task's holds, made with the first one unless the task brings its own. Called by that task.
/// Throws std::bad_alloc.
task_holds& holds_of(task_record& task);

/// The task's function has returned: suspends the task until there is no hold, and frees the memory
/// made for the first one.
void wait_for_holds(task_record& ended) noexcept;

}  // namespace quern::detail
