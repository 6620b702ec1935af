// SPDX-License-Identifier: BSL-1.0
// Takes a hold on the calling task.
#include <quern/task/task_hold.hpp>

#include <quern/scheduler/detail/context.hpp>
#include <quern/task/stop.hpp>

#include <stdexcept>

namespace quern::this_task {

task_hold hold() {
    detail::context* const root = detail::task_root();
    if (root == nullptr) {
        throw std::logic_error("quern: this_task::hold() was called by a thread, not by a task");
    }
    detail::task_record& task = root->task();
    if (task.stop != nullptr && task.stop->is_of_coroutine()) {
        throw std::logic_error(
            "quern: this_task::hold() was called by a coroutine; it can co_await what it waits "
            "for");
    }
    return task_hold(detail::holds_of(task));
}

}  // namespace quern::this_task
