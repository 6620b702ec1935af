// SPDX-License-Identifier: BSL-1.0
// The sums over zones of the same name.
#include <quern/counters/system_energy.hpp>

#include "system/reading.hpp"
#include "system/state.hpp"
#include "system/zones.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

namespace quern::counters {

namespace {

using detail::zone_meter;

constexpr std::string_view k_prefix = "/power/";
constexpr const char* k_average_power = "/runtime/average_power";

counter_info joules(const char* name, const char* help) {
    return {std::string(k_prefix) + name, counter_kind::sum, "J", help};
}

std::uint64_t steady_ns() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

}  // namespace

struct energy_source::parts {
    topology::system_root root;
    clock now;
    struct meters {
        std::vector<zone_meter> zones;
        std::uint64_t begun_ns = 0;  ///< when the zones were found
    };
    detail::kept_state<meters> kept;
    std::vector<counter_info> infos{
        joules("package", "energy of all packages, processors with what is on their chips"),
        joules("core", "energy of the cores, a part of the packages'"),
        joules("uncore", "energy of what is beside the cores, a part of the packages'"),
        joules("dram", "energy of the memory of the packages"),
        joules("psys", "energy of the whole platform, as the machine's maker defines it"),
        {k_average_power, counter_kind::ratio, "W",
         "mean power of all packages: their energy over the time"},
    };

    std::vector<raw_reading> read_zones(std::vector<zone_meter>& zones) const;
    raw_reading sum_of(std::string_view group, const std::vector<zone_meter>& zones,
                       const std::vector<raw_reading>& readings) const;
};

energy_source::energy_source(topology::system_root root, clock now)
    : m_parts(new parts{std::move(root), now ? std::move(now) : steady_ns, {}}) {}

energy_source::~energy_source() = default;

const std::vector<counter_info>& energy_source::counters() const { return m_parts->infos; }

std::vector<raw_reading> energy_source::parts::read_zones(std::vector<zone_meter>& zones) const {
    const std::uint64_t moment = now();
    std::vector<raw_reading> readings;
    readings.reserve(zones.size());
    for (zone_meter& zone : zones) {
        readings.push_back(zone.read(root, moment));
    }
    return readings;
}

raw_reading energy_source::parts::sum_of(std::string_view group,
                                         const std::vector<zone_meter>& zones,
                                         const std::vector<raw_reading>& readings) const {
    raw_reading sum;
    bool any = false;
    for (std::size_t i = 0; i < zones.size(); ++i) {
        if (zones[i].what().group != group) {
            continue;
        }
        if (readings[i].state != source_state::ok) {
            return readings[i];
        }
        any = true;
        sum.above += readings[i].above;
        sum.begins = readings[i].begins;
    }
    return any ? sum
               : detail::no_reading(source_state::absent, "no energy counter named " +
                                                              std::string(group) + " in " +
                                                              root.resolve("/sys/class/powercap"));
}

std::vector<raw_reading> energy_source::read(const place& where) {
    parts& p = *m_parts;
    if (const auto refused = detail::refuse_parts(where)) {
        return detail::all_alike(*refused, p.infos.size());
    }
    return p.kept.with([&](parts::meters& all) {
        std::vector<zone_meter>& zones = all.zones;
        if (zones.empty()) {
            all.begun_ns = p.now();
            const auto found = detail::find_zones(p.root);
            if (!found) {
                return detail::all_alike(detail::no_reading({found.reason(), found.error()}),
                                         p.infos.size());
            }
            for (const detail::zone_description& zone : *found) {
                zones.emplace_back(zone);
            }
        }
        const std::vector<raw_reading> readings = p.read_zones(zones);
        std::vector<raw_reading> sums;
        for (const counter_info& info : p.infos) {
            const bool is_power = info.name == k_average_power;
            const std::string_view group =
                is_power ? "package" : std::string_view(info.name).substr(k_prefix.size());
            sums.push_back(p.sum_of(group, zones, readings));
            if (is_power) {
                sums.back().below = 1e-9 * static_cast<double>(p.now() - all.begun_ns);
            }
        }
        return sums;
    });
}

}  // namespace quern::counters
