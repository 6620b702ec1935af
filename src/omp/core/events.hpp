// SPDX-License-Identifier: BSL-1.0
// Events of tasks. Those of tasks that run when they are made, in a team of one, are `lone`: such
// tasks are no children that could be waited for, so a counter of the process has those whose
// bodies have ended.
#pragma once

#include "core/team.hpp"

namespace quern::omp {

void add_lone_event() noexcept;
void remove_lone_event() noexcept;
/// In a team of one: waits until there are none.
void wait_for_lone_events(member& here) noexcept;

/// The event of a task of some team has been fulfilled. Any thread may say it.
void fulfill(deferred_task& of) noexcept;
/// Ends the tasks whose events threads outside the team have fulfilled.
void end_fulfilled(member& here) noexcept;

}  // namespace quern::omp
