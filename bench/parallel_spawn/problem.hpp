// SPDX-License-Identifier: BSL-1.0
// parallel_spawn: a parallel loop whose iterations each spawn one null task; all are waited for.
// Every worker fills a queue of its own at once. Size: the number of tasks. The check and `inlined`
// are as in serial_spawn.
#pragma once

#include "../tasks/null_tasks.hpp"
