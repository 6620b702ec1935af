// SPDX-License-Identifier: BSL-1.0
// What the plug-in of these tests offers to the host that loads it, in C, as real ones do.
#pragma once

#pragma GCC visibility push(default)
extern "C" {
/// Runs 1000 tasks on the plug-in's default runtime and one on a runtime of its own; their sum.
long plugin_run();

/// An exception that a task of the plug-in throws, caught in the plug-in: the length of its text.
long plugin_throw();

/// The plug-in's default pool, to tell it from the host's.
const void* plugin_pool();

/// Whether the plug-in sees a task where the caller is one of the host's.
bool plugin_sees_task();
}
#pragma GCC visibility pop
