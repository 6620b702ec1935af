// SPDX-License-Identifier: BSL-1.0
// The powercap zones of a machine, and the running sum of each. Private to the layer, used by
// system_energy.cpp alone.
#pragma once

#include <quern/counters/source.hpp>
#include <quern/topology/system_root.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace quern::counters::detail {

struct zone_description {
    std::string folder;                     ///< "/sys/class/powercap/intel-rapl:0"
    std::string name;                       ///< "package-0", "dram"
    std::string group;                      ///< "package", "psys", or the name within a package
    std::optional<std::uint64_t> range_uj;  ///< value at which it wraps, in microjoules
    double most_watts = 0;                  ///< upper bound of its power
};

/// The relevant zones, each once. Unavailable if the machine has none, or if a zone's name cannot
/// be read.
topology::outcome<std::vector<zone_description>> find_zones(const topology::system_root& root);

/// The energy of one zone since its first reading.
class zone_meter {
public:
    explicit zone_meter(zone_description what) : m_what(std::move(what)) {}

    const zone_description& what() const noexcept { return m_what; }

    /// In joules. `now` in nanoseconds, monotonic.
    raw_reading read(const topology::system_root& root, std::uint64_t now);

private:
    void advance(std::uint64_t shown, std::uint64_t now);
    bool may_have_wrapped_twice(std::uint64_t now) const noexcept;

    zone_description m_what;
    std::optional<std::uint64_t> m_shown{};  ///< microjoules, at the last reading
    std::uint64_t m_read = 0;                ///< time of the last reading
    std::uint64_t m_moved = 0;               ///< first reading or last observed change
    std::uint64_t m_sum_uj = 0;
    std::string m_lost;  ///< why the sum is lost; empty: valid
};

}  // namespace quern::counters::detail
