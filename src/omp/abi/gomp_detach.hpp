// SPDX-License-Identifier: BSL-1.0
// Tasks of gcc's programs with the clause detach.
#pragma once

#include "core/tasks.hpp"

namespace quern::omp {

/// Makes the task. The program finds its event in `*place`, the task in the first word of its data.
void create_detachable_task(member& here, const task_request& what, void** place);

}  // namespace quern::omp
