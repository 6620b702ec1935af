// SPDX-License-Identifier: BSL-1.0
// The clause `depend`: which of the tasks that one task creates must wait for which others.
#pragma once

#include "core/tasks.hpp"

namespace quern::omp {

/// Copies what the request says into a task that has been prepared for it.
void fill_deferred(deferred_task& made, const task_request& what) noexcept;

/// Makes a task that becomes ready when those before it with the same addresses have ended.
void create_dependent_task(member& here, const task_request& what);

/// The same for a task that has been prepared and filled.
void add_dependent(member& here, deferred_task& made, void** dependences);

/// Waits for the children that a task with these dependences would wait for.
void wait_for_accesses(member& here, void** dependences) noexcept;

/// A task with dependences has ended: makes those ready that waited only for it.
void release_followers(member& here, deferred_task& ended) noexcept;

/// A task that made tasks with dependences has ended, and so have these.
void delete_accesses(task& ended) noexcept;

}  // namespace quern::omp
