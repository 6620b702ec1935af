// SPDX-License-Identifier: BSL-1.0
// Included as hpx/hpx_main.hpp: runs the program's main as a task. Needs the link option of the
// CMake target hpx_compat.
#pragma once

#include <quern/compat/hpx.hpp>

extern "C" {
extern char quern_hpx_main_is_task;
// NOLINTNEXTLINE(misc-definitions-in-headers): weak, so that several definitions are allowed
__attribute__((weak, used)) char quern_hpx_main_is_task = 1;
}
