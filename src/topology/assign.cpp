// SPDX-License-Identifier: BSL-1.0
// Places workers on processing units by policy. Pure functions of their arguments, so that tests
// can check exact results for every machine. Called when a pool starts.
#include <quern/topology/binding.hpp>

#include <algorithm>

namespace quern::topology {

namespace {

using pu_refs = std::vector<const processing_unit*>;

/// The allowed units in the machine's order.
pu_refs select(const machine& on, std::span<const unsigned> allowed) {
    pu_refs chosen;
    for (const processing_unit& pu : on.pus) {
        if (std::find(allowed.begin(), allowed.end(), pu.os_index) != allowed.end()) {
            chosen.push_back(&pu);
        }
    }
    return chosen;
}

/// Splits into groups of equal key, in order of first appearance.
template <class Key>
std::vector<pu_refs> group_by(const pu_refs& pus, Key key) {
    std::vector<pu_refs> groups;
    std::vector<unsigned> keys;
    for (const processing_unit* pu : pus) {
        const auto at =
            static_cast<std::size_t>(std::find(keys.begin(), keys.end(), key(*pu)) - keys.begin());
        if (at == keys.size()) {
            keys.push_back(key(*pu));
            groups.emplace_back();
        }
        groups[at].push_back(pu);
    }
    return groups;
}

unsigned package_of(const processing_unit& pu) { return pu.package; }
unsigned node_of(const processing_unit& pu) { return pu.numa_node; }
unsigned l3_of(const processing_unit& pu) { return pu.l3; }
unsigned core_of(const processing_unit& pu) { return pu.core; }

/// One from each group in turn, until all are empty.
pu_refs interleave(const std::vector<pu_refs>& groups) {
    pu_refs mixed;
    for (std::size_t round = 0, before = 1; before != 0; ++round) {
        before = 0;
        for (const pu_refs& group : groups) {
            if (round < group.size()) {
                mixed.push_back(group[round]);
                ++before;
            }
        }
    }
    return mixed;
}

template <class Key, class... Deeper>
pu_refs alternate(const pu_refs& pus, Key key, Deeper... deeper) {
    std::vector<pu_refs> groups = group_by(pus, key);
    if constexpr (sizeof...(deeper) > 0) {
        for (pu_refs& group : groups) {
            group = alternate(group, deeper...);
        }
    }
    return interleave(groups);
}

pu_refs scatter(const pu_refs& pus) {
    pu_refs placed;
    const std::vector<pu_refs> cores = group_by(pus, core_of);
    for (std::size_t rank = 0; placed.size() < pus.size(); ++rank) {
        pu_refs layer;  // one unit of every core with that many
        for (const pu_refs& core : cores) {
            if (rank < core.size()) {
                layer.push_back(core[rank]);
            }
        }
        layer = alternate(layer, package_of, node_of, l3_of);
        placed.insert(placed.end(), layer.begin(), layer.end());
    }
    return placed;
}

/// Deals n workers to groups: whole rounds of one for every group with room; the rest of m workers
/// goes to the groups 0, G/m, 2G/m … (rounded down) of the G that still have room. Requires: the
/// groups have room for n.
std::vector<std::size_t> deal(const std::vector<pu_refs>& groups, std::size_t n) {
    std::vector<std::size_t> counts(groups.size(), 0);
    std::vector<std::size_t> open;
    while (n > 0) {
        open.clear();
        for (std::size_t g = 0; g < groups.size(); ++g) {
            if (counts[g] < groups[g].size()) {
                open.push_back(g);
            }
        }
        const std::size_t dealt = std::min(n, open.size());
        for (std::size_t i = 0; i < dealt; ++i) {
            ++counts[open[i * open.size() / dealt]];
        }
        n -= dealt;
    }
    return counts;
}

pu_refs balanced(const pu_refs& pus, std::size_t n) {
    pu_refs placed;
    const std::vector<pu_refs> cores = group_by(pus, core_of);
    const std::vector<std::size_t> counts = deal(cores, n);
    for (std::size_t c = 0; c < cores.size(); ++c) {
        placed.insert(placed.end(), cores[c].begin(),
                      cores[c].begin() + static_cast<std::ptrdiff_t>(counts[c]));
    }
    return placed;
}

pu_refs numa_balanced(const pu_refs& pus, std::size_t n) {
    pu_refs placed;
    const std::vector<pu_refs> nodes = group_by(pus, node_of);
    const std::vector<std::size_t> counts = deal(nodes, n);
    for (std::size_t node = 0; node < nodes.size(); ++node) {
        const pu_refs within = balanced(nodes[node], counts[node]);
        placed.insert(placed.end(), within.begin(), within.end());
    }
    return placed;
}

/// The places of the first n workers. Requires: 0 < n <= pus.size().
pu_refs place(binding_policy policy, const pu_refs& pus, std::size_t n) {
    switch (policy) {
        case binding_policy::scatter:
            return scatter(pus);
        case binding_policy::balanced:
        case binding_policy::cores:
        case binding_policy::nodes:
            return balanced(pus, n);
        case binding_policy::numa_balanced:
            return numa_balanced(pus, n);
        case binding_policy::none:
        case binding_policy::list:
        case binding_policy::compact:
            break;
    }
    return pus;
}

cpu_list indices_of(const pu_refs& pus) {
    cpu_list indices;
    for (const processing_unit* pu : pus) {
        indices.push_back(pu->os_index);
    }
    return indices;
}

cpu_list ascending(cpu_list list) {
    std::sort(list.begin(), list.end());
    return list;
}

/// Every CPU of the list must be allowed.
outcome<cpu_list> listed(const pu_refs& pus, const cpu_list& list) {
    const cpu_list known = ascending(indices_of(pus));
    for (const unsigned wanted : list) {
        if (!std::binary_search(known.begin(), known.end(), wanted)) {
            return unavailable{"binding " + to_text(list) + " names CPU " + std::to_string(wanted) +
                               ", which this process may not use; allowed: " + to_text(known)};
        }
    }
    if (list.empty()) {
        return unavailable{"binding to a list of CPUs that is empty"};
    }
    return list;
}

cpu_list cores_of(const machine& on) {
    cpu_list all;
    for (unsigned core = 0; core < on.cores.size(); ++core) {
        all.push_back(core);
    }
    return all;
}

cpu_list nodes_of(const machine& on) {
    cpu_list all;
    for (const numa_node& node : on.numa_nodes) {
        all.push_back(node.os_index);
    }
    return ascending(all);
}

/// The allowed PUs of the cores or nodes that a binding names; those must exist.
outcome<cpu_list> named(const machine& on, const pu_refs& pus, const binding& how) {
    const bool by_core = how.policy == binding_policy::cores;
    const cpu_list known = by_core ? cores_of(on) : nodes_of(on);
    for (const unsigned wanted : how.list) {
        if (!std::binary_search(known.begin(), known.end(), wanted)) {
            const char* const what = by_core ? "core" : "NUMA node";
            return unavailable{"binding " + name_of(how) + " names " + what + " " +
                               std::to_string(wanted) +
                               ", which the machine does not have; it has " + what +
                               (known.size() == 1 ? " " : "s ") + to_text(known)};
        }
    }
    cpu_list within;
    for (const processing_unit* pu : pus) {
        const unsigned of = by_core ? pu->core : on.numa_nodes[pu->numa_node].os_index;
        if (std::find(how.list.begin(), how.list.end(), of) != how.list.end()) {
            within.push_back(pu->os_index);
        }
    }
    if (within.empty()) {
        return unavailable{"binding " + name_of(how) +
                           " has no CPU that this process may use; allowed: " +
                           to_text(ascending(indices_of(pus)))};
    }
    return within;
}

}  // namespace

outcome<cpu_list> pus_within(const machine& on, std::span<const unsigned> allowed,
                             const binding& how) {
    const pu_refs pus = select(on, allowed);
    if (pus.empty()) {
        return unavailable{"no processing unit of the machine is allowed for this process"};
    }
    switch (how.policy) {
        case binding_policy::list:
            return listed(pus, how.list);
        case binding_policy::cores:
        case binding_policy::nodes:
            return named(on, pus, how);
        default:
            return indices_of(pus);
    }
}

outcome<std::vector<unsigned>> assign(const machine& on, std::span<const unsigned> allowed,
                                      const binding& how, unsigned workers) {
    if (how.policy == binding_policy::none || workers == 0) {
        return std::vector<unsigned>(workers, k_none);
    }
    const outcome<cpu_list> within = pus_within(on, allowed, how);
    if (!within) {
        return unavailable{within.reason()};
    }
    cpu_list places = *within;
    if (how.policy != binding_policy::list) {
        const pu_refs pus = select(on, places);
        places = indices_of(place(how.policy, pus, std::min<std::size_t>(workers, pus.size())));
    }
    std::vector<unsigned> assigned;
    for (unsigned worker = 0; worker < workers; ++worker) {
        assigned.push_back(places[worker % places.size()]);
    }
    return assigned;
}

}  // namespace quern::topology
