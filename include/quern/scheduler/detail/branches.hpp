// SPDX-License-Identifier: BSL-1.0
// Tasks whose branches are tasks of their own. A branch, a forked child or a part of a loop, that
// no worker steals runs on the stack of the task that forked it, within its record, so code in it
// cannot be told from the task's own. Some objects belong to a task and not to its branches: what
// they refuse must not depend on whether a thief came. Their task forks on the slow path, and runs
// each branch that comes back to it within a record of its own. Other tasks pay nothing.
#pragma once

#include <quern/base/detail/config.hpp>
#include <quern/scheduler/detail/context.hpp>

namespace quern::detail {

/// All tasks with that run function. Any thread. Each of them calls fork_slowly() at its beginning.
void set_kind_with_own_branches(work::run_function entry) noexcept;

/// The running task, until the second call with the same record. The calls may be nested.
void begin_own_branches(const task_record& task) noexcept;
void end_own_branches(const task_record& task) noexcept;

/// Called only by slow paths of forks: a comparison, and, while there are such tasks, a look into
/// one cache line.
bool has_own_branches(const task_record& task) noexcept;

/// Each fork of the running task takes the slow path from now on.
QUERN_ALWAYS_INLINE void fork_slowly() noexcept {
    if (context* const here = current_context()) {
        here->force_slow_path();
    }
}

/// Stands around the code of a branch that runs on the stack of its task. The record is the task's
/// but for its identity.
class branch_record {
public:
    explicit branch_record(context& place, work::run_function entry) noexcept;
    branch_record(const branch_record&) = delete;
    branch_record& operator=(const branch_record&) = delete;
    ~branch_record();

private:
    context& m_place;
    task_record& m_task;
    task_record m_branch;
};

}  // namespace quern::detail
