// SPDX-License-Identifier: BSL-1.0
// The C interface of these tests' plug-in for its host, as in real plug-ins.
#pragma once

#pragma GCC visibility push(default)
extern "C" {
/// Runs 1000 tasks on the plug-in's default runtime and one on a runtime of its own; returns their
/// sum.
long plugin_run();

/// Catches in the plug-in an exception that one of its tasks throws: returns the length of its
/// text.
long plugin_throw();

/// The plug-in's default pool, to distinguish it from the host's.
const void* plugin_pool();

/// Whether the plug-in sees a task when the caller is a task of the host.
bool plugin_sees_task();
}
#pragma GCC visibility pop
