// SPDX-License-Identifier: BSL-1.0
// What the operating system and the hardware count: the process's memory, input and output, the
// schedule of its workers' threads, the machine's steal time and pressure, control groups, energy,
// hardware events. Made once per process and put into the registry.
#pragma once

#include <quern/counters/source.hpp>
#include <quern/topology/system_root.hpp>

#include <memory>
#include <vector>

namespace quern::counters {

/// All sources of the system, also those that this machine does not have: their readings say why.
///
/// Nothing is opened before the first reading. A sum of hardware events, or of energy, begins with
/// the first reading that anybody makes; the others with the process, the thread or the machine.
/// What is counted per worker is that of its thread: a task in a blocking region runs elsewhere and
/// is not counted. The whole is the sum over all runtimes of the process, and what threads have
/// counted stays in it when they end.
///
/// Below a root other than "/" only files are read: what needs a system call is absent.
/// Readings are thread safe. Cost: a few microseconds for each file and each event of each worker.
///
///     for (auto& one : quern::counters::system_sources()) {
///         for (const auto& reading : one->read({})) { … }
///     }
std::vector<std::unique_ptr<source>> system_sources(const topology::system_root& root = {});

}  // namespace quern::counters
