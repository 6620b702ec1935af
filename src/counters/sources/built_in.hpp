// SPDX-License-Identifier: BSL-1.0
// Quern's built-in sources, one file each. To add one, declare it here and add it in built_in.cpp.
#pragma once

#include <quern/counters/source.hpp>

#include <memory>

namespace quern::counters::detail {

/// The workers' statistics: times, rates, tasks.
std::unique_ptr<source> threads_source();
std::unique_ptr<source> queues_source();
std::unique_ptr<source> uptime_source();
/// The domains of dependent tasks.
std::unique_ptr<source> dependences_source();
/// Renamed objects of dependent tasks.
std::unique_ptr<source> renaming_source();

}  // namespace quern::counters::detail
