// SPDX-License-Identifier: BSL-1.0
// serial_spawn: one loop spawns null tasks, then waits for all of them. Tests a growing queue, and
// many thieves with one victim. Size: the number of tasks. An untimed first run checks that each
// task ran once; see ../tasks/null_tasks.hpp, also for `inlined`: a runtime may run a task in the
// spawn when its queue is full.
#pragma once

#include "../tasks/null_tasks.hpp"
