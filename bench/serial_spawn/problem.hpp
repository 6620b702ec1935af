// SPDX-License-Identifier: BSL-1.0
// serial_spawn: one loop spawns null tasks, then waits for all of them. A queue that grows, and
// thieves that all come to one victim. Size: the number of tasks. That each task ran once is
// checked in a run before the timed ones; see ../tasks/null_tasks.hpp, also for what `inlined`
// means: a runtime may run a task in the spawn when its queue is full.
#pragma once

#include "../tasks/null_tasks.hpp"
