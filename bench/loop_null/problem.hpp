// SPDX-License-Identifier: BSL-1.0
// loop_null: a parallel loop over null iterations, with chunks of one iteration and as the runtime
// chooses them. Size: the number of iterations. The check is that of serial_spawn.
#pragma once

#include "../tasks/null_tasks.hpp"
