// SPDX-License-Identifier: BSL-1.0
// Counters of the operating system and the hardware: the process's memory, input and output, the
// scheduling of its worker threads, the machine's steal time and pressure, control groups, energy,
// hardware events. Created once per process and put into the registry.
#pragma once

#include <quern/counters/source.hpp>
#include <quern/topology/system_root.hpp>

#include <memory>
#include <vector>

namespace quern::counters {

/// All system sources, including those that this machine does not have: their readings say why.
///
/// Nothing is opened before the first reading. A sum of events or of energy begins with the first
/// reading by any reader; other sums begin with the process, its threads or the machine. Values per
/// worker are those of its thread: a task in a blocking region runs elsewhere and is not counted.
///
/// With a root other than "/" only files are read: sources that need a system call are absent.
/// Readings are thread safe, and start again in the child of a fork(). Cost: 2 to 50 us for a file,
/// about 100 us for control groups, 1 us for an event of a worker.
///
///     for (auto& one : quern::counters::system_sources()) {
///         for (const auto& reading : one->read({})) {
///             std::printf("%g %s\n", reading.above, reading.why.c_str());
///         }
///     }
std::vector<std::unique_ptr<source>> system_sources(const topology::system_root& root = {});

}  // namespace quern::counters
