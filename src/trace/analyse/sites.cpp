// SPDX-License-Identifier: BSL-1.0
// Sorts the sites and sums up those that are not shown.
#include "analyse/sites.hpp"

#include <algorithm>
#include <numeric>

namespace quern::trace::detail {

void add(site& into, const site& one) {
    const bool first = into.tasks == 0;
    into.tasks += one.tasks;
    into.phases += one.phases;
    into.suspensions += one.suspensions;
    into.inlined += one.inlined;
    into.stolen += one.stolen;
    into.total_ns += one.total_ns;
    into.waited_ns += one.waited_ns;
    into.critical_ns += one.critical_ns;
    into.blocked_ns += one.blocked_ns;
    into.lost_ns += one.lost_ns;
    into.lost_error_ns += one.lost_error_ns;
    into.min_ns = first ? one.min_ns : std::min(into.min_ns, one.min_ns);
    into.max_ns = std::max(into.max_ns, one.max_ns);
    into.events.resize(std::max(into.events.size(), one.events.size()));
    for (std::size_t i = 0; i < one.events.size(); ++i) {
        into.events[i] += one.events[i];
    }
    for (std::size_t i = 0; i < into.histogram.size(); ++i) {
        into.histogram[i] += one.histogram[i];
    }
}

page_sites::page_sites(const recording& run) {
    std::vector<std::size_t> order(run.sites.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return run.sites[a].total_ns > run.sites[b].total_ns;
    });
    m_places.resize(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        const site& one = run.sites[order[i]];
        m_places[order[i]] = static_cast<std::uint8_t>(std::min(i, k_sites_shown));
        if (i < k_sites_shown) {
            m_shown.push_back(one);
            continue;
        }
        if (i == k_sites_shown) {
            m_folded = order.size() - k_sites_shown;
            m_shown.emplace_back().name = std::to_string(m_folded) + " further sites";
        }
        add(m_shown.back(), one);
    }
}

}  // namespace quern::trace::detail
