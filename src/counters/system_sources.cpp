// SPDX-License-Identifier: BSL-1.0
// The list of all sources of the system.
#include <quern/counters/system_energy.hpp>
#include <quern/counters/system_events.hpp>
#include <quern/counters/system_sources.hpp>

#include "system_files.hpp"

#include <utility>

namespace quern::counters {

std::vector<std::unique_ptr<source>> system_sources(const topology::system_root& root) {
    std::vector<std::unique_ptr<source>> all;
    detail::add_process_sources(all, root);
    detail::add_schedule_source(all, root);
    detail::add_machine_sources(all, root);
    detail::add_group_sources(all, root);
    all.push_back(std::make_unique<energy_source>(root));
    for (auto& events :
         event_sources(root, root.real() ? topology::event_kernel::of_machine() : nullptr)) {
        all.push_back(std::move(events));
    }
    return all;
}

}  // namespace quern::counters
