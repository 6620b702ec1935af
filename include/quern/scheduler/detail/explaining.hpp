// SPDX-License-Identifier: BSL-1.0
// Lines that a layer adds to reports of waiting tasks: what waits for such a task, or what keeps an
// object from being ready. Reports call these functions while tasks run, so they copy memory by
// copy_if_there and accept any content.
#pragma once

#include <quern/scheduler/work.hpp>

#include <string>
#include <vector>

namespace quern::detail {

/// A line, and where the task that it names was made, if it is of a task.
struct explanation {
    std::string text{};  ///< without an end of line
    const void* site = nullptr;

    friend bool operator==(const explanation&, const explanation&) = default;
};

using explanations = std::vector<explanation>;

/// What waits for a task. `front_end` is task_description::front_end.
using explain_task = void (*)(const void* front_end, explanations& into);

/// For the tasks that this function runs. At most 4 kinds of tasks; later calls with the same
/// function do nothing. Thread safe.
void explain_tasks_of(work::run_function entry, explain_task how) noexcept;

/// Null: there is nothing to say of such tasks. Requires: the process registry is locked.
explain_task explainer_of(work::run_function entry) noexcept;

}  // namespace quern::detail
