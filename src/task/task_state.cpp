// SPDX-License-Identifier: BSL-1.0
// Whether a task may run in the place of its waiter now, or a more urgent item must run first. The
// parts of task_state that do not depend on its function.
#include <quern/task/detail/task_state.hpp>

#include <quern/scheduler/detail/context.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/scheduler/detail/worker.hpp>

#include <algorithm>

namespace quern::detail {

bool is_ready_above(const worker_shared& here, order_key key) noexcept {
    return here.best_placed() > key;
}

bool must_let_others_run(const context& waiter, const runnable& task) noexcept {
    return is_ready_above(waiter.host(), std::max(key_of(waiter), key_of(task)));
}

}  // namespace quern::detail
