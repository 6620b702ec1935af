// SPDX-License-Identifier: BSL-1.0
// Which sources every process has.
#include "built_in.hpp"

#include "tables.hpp"

#include <quern/counters/system_sources.hpp>

#include <utility>

namespace quern::counters::detail {

std::vector<std::unique_ptr<source>> built_in_sources() {
    std::vector<std::unique_ptr<source>> all;
    all.push_back(threads_source());
    all.push_back(blocked_source());
    all.push_back(queues_source());
    all.push_back(uptime_source());
    all.push_back(blocks_source());
    for (auto& each : system_sources()) {
        all.push_back(std::move(each));
    }
    all.push_back(papi_source());
    return all;
}

}  // namespace quern::counters::detail
