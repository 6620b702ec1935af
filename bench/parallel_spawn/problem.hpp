// SPDX-License-Identifier: BSL-1.0
// parallel_spawn: a parallel loop whose iterations each spawn one null task, and a wait for all.
// Every worker fills its own queue at the same time. Size: the number of tasks. The check and
// `inlined` are as in serial_spawn.
#pragma once

#include "../tasks/null_tasks.hpp"
