// SPDX-License-Identifier: BSL-1.0
// The sources that Quern brings, each in a file of its own. To add one, declare it here and name it
// in built_in.cpp.
#pragma once

#include <quern/counters/source.hpp>

#include <memory>

namespace quern::counters::detail {

/// What the workers count: times, rates, tasks.
std::unique_ptr<source> threads_source();
/// How many tasks there are at this moment.
std::unique_ptr<source> queues_source();
std::unique_ptr<source> uptime_source();
/// How much memory tasks have.
std::unique_ptr<source> blocks_source();
std::unique_ptr<source> blocked_source();
/// Names of PAPI, all absent.
std::unique_ptr<source> papi_source();

}  // namespace quern::counters::detail
