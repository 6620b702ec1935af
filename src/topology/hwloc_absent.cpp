// SPDX-License-Identifier: BSL-1.0
// Replaces hwloc_reader.cpp in a build without hwloc: this computer is then read from /sys, and
// synthetic machines are unavailable.
#include "machine_parts.hpp"

namespace quern::topology {

std::string_view hwloc_version() noexcept { return {}; }

namespace detail {

outcome<machine> read_with_hwloc(std::optional<std::string> synthetic) {
    return unavailable{
        synthetic ? "synthetic machines need hwloc, and this build was configured without it"
                  : "this build was configured without hwloc"};
}

}  // namespace detail

}  // namespace quern::topology
