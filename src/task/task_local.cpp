// SPDX-License-Identifier: BSL-1.0
// Finds the values of task-local variables: in the task's context, or in the thread if it runs no
// task.
#include <quern/task/task_local.hpp>

#include <quern/base/detail/config.hpp>
#include <quern/scheduler/detail/context.hpp>

#include <atomic>

namespace quern::detail {

namespace {

struct locals_of_thread : task_locals {
    ~locals_of_thread() { destroy_all(); }
};

/// For threads that run no task and so do not change.
QUERN_NOINLINE task_locals& thread_locals() noexcept {
    static thread_local locals_of_thread own;
    return own;
}

}  // namespace

std::uint64_t new_task_local() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

task_locals& own_task_locals() noexcept {
    context* const root = task_root();
    return root != nullptr ? root->task().locals : thread_locals();
}

}  // namespace quern::detail
