// SPDX-License-Identifier: BSL-1.0
// Selects the reader of the machine, and answers simple queries. Called when a pool starts.
#include <quern/topology/machine.hpp>

#include "machine_parts.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace quern::topology {

machine machine::detect() {
    const char* const description = std::getenv("HWLOC_SYNTHETIC");
    if (description && *description != '\0') {
        const outcome<machine> invented = synthetic(description);
        if (!invented) {
            throw std::invalid_argument("HWLOC_SYNTHETIC: " + invented.reason());
        }
        return *invented;
    }
    const outcome<machine> found = detail::read_with_hwloc(std::nullopt);
    if (found) {
        return *found;
    }
    machine fallback = from_sysfs({});
    fallback.notes.push_back("read from /sys because " + found.reason());
    return fallback;
}

outcome<machine> machine::synthetic(std::string_view description) {
    return detail::read_with_hwloc(std::string(description));
}

const processing_unit* machine::find(unsigned os_index) const noexcept {
    const auto has_index = [os_index](const processing_unit& pu) {
        return pu.os_index == os_index;
    };
    const auto found = std::find_if(pus.begin(), pus.end(), has_index);
    return found == pus.end() ? nullptr : &*found;
}

unsigned machine::package_count() const noexcept {
    unsigned count = 0;
    for (const processing_unit& pu : pus) {
        count = std::max(count, pu.package + 1);
    }
    return count;
}

std::vector<unsigned> machine::all_pus() const {
    std::vector<unsigned> indices;
    for (const processing_unit& pu : pus) {
        indices.push_back(pu.os_index);
    }
    std::sort(indices.begin(), indices.end());
    return indices;
}

}  // namespace quern::topology
