// SPDX-License-Identifier: BSL-1.0
// Who a worker's neighbours are: whom it robs, in which order, and the NUMA node that it shares a
// queue with. Done once, before the workers start.
#include <quern/scheduler/pool.hpp>

#include <algorithm>
#include <iterator>

namespace quern::detail {

void pool::wire_victims(const pool_description& description) {
    for (std::uint32_t rank = 0; rank < size(); ++rank) {
        auto& rings = m_workers[rank]->m_victims;
        if (rank < description.victims.size()) {
            for (const auto& ring : description.victims[rank]) {
                std::vector<worker*> near;
                near.reserve(ring.size());
                for (const std::uint32_t other : ring) {
                    near.push_back(m_workers.at(other).get());
                }
                if (!near.empty()) {
                    rings.push_back(std::move(near));
                }
            }
        } else if (size() > 1) {
            std::vector<worker*> all;
            all.reserve(size());
            for (std::uint32_t i = 1; i < size(); ++i) {
                all.push_back(m_workers[(rank + i) % size()].get());
            }
            rings.push_back(std::move(all));
        }
    }
}

void pool::wire_nodes() {
    for (const auto& w : m_workers) {
        const unsigned number = numa_node_of(w->m_rank).value_or(0);
        auto found = std::find_if(m_nodes.begin(), m_nodes.end(),
                                  [number](const auto& n) { return n->number == number; });
        if (found == m_nodes.end()) {
            m_nodes.push_back(std::make_unique<node>());
            m_nodes.back()->number = number;
            found = std::prev(m_nodes.end());
        }
        (*found)->workers.push_back(w.get());
        w->queues.of_node = &(*found)->ready;
    }
    for (const auto& w : m_workers) {
        count_near_rings(*w);
    }
}

void pool::count_near_rings(worker& w) noexcept {
    const auto is_near = [&w](const worker::ring& victims) {
        return std::all_of(victims.begin(), victims.end(), [&w](const worker* other) {
            return other->queues.of_node == w.queues.of_node;
        });
    };
    const auto far = std::find_if_not(w.m_victims.begin(), w.m_victims.end(), is_near);
    w.m_rings_of_node = static_cast<std::size_t>(far - w.m_victims.begin());
}

pool::node& pool::node_of(unsigned number) noexcept {
    for (const auto& n : m_nodes) {
        if (n->number == number) {
            return *n;
        }
    }
    return *m_nodes[number % m_nodes.size()];
}

}  // namespace quern::detail
