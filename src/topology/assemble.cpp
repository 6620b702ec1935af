// SPDX-License-Identifier: BSL-1.0
// Turns a reader's results into a machine: dense ids in order of first appearance, SMT ranks,
// membership lists. Used by both readers, so that their machines have the same form.
#include "machine_parts.hpp"

#include <algorithm>
#include <map>

namespace quern::topology::detail {

namespace {

/// Dense numbers for sparse keys, in order of first appearance.
class numbering {
public:
    unsigned of(std::uint64_t key) {
        return m_numbers.try_emplace(key, static_cast<unsigned>(m_numbers.size())).first->second;
    }

private:
    std::map<std::uint64_t, unsigned> m_numbers;
};

unsigned position_of_node(const std::vector<numa_node>& nodes, unsigned os_index) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].os_index == os_index) {
            return static_cast<unsigned>(i);
        }
    }
    return 0;
}

void add_unit(machine& made, const raw_unit& unit, unsigned package, unsigned core_id) {
    processing_unit pu;
    pu.os_index = unit.os_index;
    pu.package = package;
    pu.core = core_id;
    pu.numa_node = position_of_node(made.numa_nodes, unit.numa_node);
    if (core_id == made.cores.size()) {
        made.cores.push_back({{}, pu.package, pu.numa_node});
    }
    core& home = made.cores[core_id];
    pu.smt_rank = static_cast<unsigned>(home.pus.size());
    home.pus.push_back(pu.os_index);
    made.pus.push_back(pu);
}

/// Sorts caches by level, numbers them within their level, and sets the units' level-2 and level-3
/// ids.
void add_caches(machine& made, std::vector<cache> caches) {
    std::stable_sort(caches.begin(), caches.end(),
                     [](const cache& a, const cache& b) { return a.level < b.level; });
    std::map<unsigned, unsigned> next_id;
    for (cache& found : caches) {
        found.id = next_id[found.level]++;
        for (processing_unit& pu : made.pus) {
            const bool shares =
                std::find(found.pus.begin(), found.pus.end(), pu.os_index) != found.pus.end();
            if (shares && found.level == 2) {
                pu.l2 = found.id;
            } else if (shares && found.level == 3) {
                pu.l3 = found.id;
            }
        }
    }
    made.caches = std::move(caches);
}

void add_distances(machine& made, std::vector<std::vector<std::uint64_t>> distances) {
    const std::size_t n = made.numa_nodes.size();
    if (n == 1) {
        return;
    }
    const bool square =
        distances.size() == n && std::all_of(distances.begin(), distances.end(),
                                             [n](const auto& row) { return row.size() == n; });
    if (square) {
        made.numa_distances = std::move(distances);
    } else if (!distances.empty()) {
        made.notes.push_back("NUMA distances ignored: not one row and one column for each of the " +
                             std::to_string(n) + " nodes");
    }
}

}  // namespace

machine assemble(raw_machine raw, machine_source source, std::string description) {
    machine made;
    made.source = source;
    made.description = std::move(description);
    if (raw.units.empty()) {
        made.notes.push_back("no processing unit found; assuming one");
        raw.units.emplace_back();
    }
    if (raw.nodes.empty()) {
        raw.nodes.emplace_back();
        raw.numa_distances.clear();
        for (const raw_unit& unit : raw.units) {
            raw.nodes.front().pus.push_back(unit.os_index);
        }
    }
    made.numa_nodes = std::move(raw.nodes);
    numbering packages;
    numbering cores;
    for (const raw_unit& unit : raw.units) {
        const unsigned package = packages.of(unit.package);
        const unsigned core_id = cores.of(unit.core);
        add_unit(made, unit, package, core_id);
    }
    add_caches(made, std::move(raw.caches));
    add_distances(made, std::move(raw.numa_distances));
    return made;
}

}  // namespace quern::topology::detail
