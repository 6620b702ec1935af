// SPDX-License-Identifier: BSL-1.0
// loop_null: a parallel loop over null iterations, with chunks of one iteration, and with the
// runtime's choice of chunks. Size: the number of iterations. The check is that of serial_spawn.
#pragma once

#include "../tasks/null_tasks.hpp"
