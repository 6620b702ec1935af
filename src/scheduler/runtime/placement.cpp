// SPDX-License-Identifier: BSL-1.0
// Chooses where the workers of a pool run. The layer topology has the rules of bindings. This file
// applies them to the settings, which know the origin of a value that cannot be obeyed.
#include <quern/scheduler/detail/placement.hpp>

#include <quern/topology/binding.hpp>
#include <quern/topology/distance.hpp>
#include <quern/topology/workers.hpp>

#include <algorithm>

namespace quern::detail {

namespace {

/// As many as may run at once; within a list at most its number of distinct units.
unsigned workers_within(const topology::cpu_list& pus, const topology::machine& on,
                        const topology::cpu_limits& limits) {
    const unsigned at_once = topology::choose_workers(on, limits).count;
    const std::size_t distinct =
        static_cast<std::size_t>(std::count_if(pus.begin(), pus.end(), [&](const unsigned& pu) {
            return std::find(pus.data(), &pu, pu) == &pu;
        }));
    return static_cast<unsigned>(std::min<std::size_t>(at_once, distinct));
}

void set_places(pool_description& description, const topology::machine& on,
                const std::vector<unsigned>& units) {
    if (on.is_this_computer()) {  // an invented one has no units to run on
        description.processing_units.assign(units.begin(), units.end());
    }
    for (const unsigned unit : units) {
        description.nodes.push_back(on.numa_nodes[on.find(unit)->numa_node].os_index);
    }
    for (const auto& rings : topology::nearest_first(on, units)) {
        auto& mine = description.victims.emplace_back();
        for (const topology::ring& ring : rings) {
            mine.emplace_back(ring.workers.begin(), ring.workers.end());
        }
    }
}

}  // namespace

void place_workers(pool_description& description, const topology::machine& on,
                   const topology::cpu_limits& limits, const settings& chosen) {
    const auto how = topology::parse_binding(chosen.at("bind").text);
    const auto wanted = chosen.number("threads");
    if (how->policy == topology::binding_policy::none) {
        description.workers = wanted ? *wanted : topology::choose_workers(on, limits).count;
        return;
    }
    const topology::cpu_list allowed = topology::allowed_pus(on, limits);
    const auto within = topology::pus_within(on, allowed, *how);
    if (!within) {
        chosen.refuse("bind", within.reason());
    }
    description.workers = wanted ? *wanted : workers_within(*within, on, limits);
    set_places(description, on, *topology::assign(on, allowed, *how, description.workers));
}

std::vector<unsigned> usable_nodes(const topology::machine& on,
                                   const topology::cpu_limits& limits) {
    std::vector<unsigned> nodes;
    for (const unsigned pu : topology::allowed_pus(on, limits)) {
        nodes.push_back(on.numa_nodes[on.find(pu)->numa_node].os_index);
    }
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return nodes;
}

}  // namespace quern::detail
