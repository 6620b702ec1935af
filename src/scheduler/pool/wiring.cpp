// SPDX-License-Identifier: BSL-1.0
// Connects a worker to its victims in their order, its NUMA node, and the policy's queues that it
// shares with others. Called once, before the workers start.
#include <quern/scheduler/detail/pool.hpp>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <string>

namespace quern::detail {

void pool::wire(const pool_description& description) {
    wire_victims(description);
    wire_nodes();
    for (const auto& w : m_workers) {
        if (m_policy->arrange != nullptr) {
            arrange_victims(*w);
        }
        count_near_rings(*w);
    }
    if (m_policy->make != nullptr) {
        make_policy_queues();
    }
}

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
        w->m_node = static_cast<std::uint32_t>(found - m_nodes.begin());
    }
}

/// Every other worker must remain a victim: work that no worker may take would keep all of them
/// awake.
void pool::arrange_victims(worker& w) {
    victim_rings wanted;
    for (const worker::ring& near : w.m_victims) {
        auto& ranks = wanted.emplace_back();
        for (const worker* other : near) {
            ranks.push_back(other->m_rank);
        }
    }
    m_policy->arrange(policy_host(*this), w.m_rank, wanted);

    w.m_victims.clear();
    std::vector<unsigned> found;
    for (const std::vector<unsigned>& ranks : wanted) {
        worker::ring near;
        for (const unsigned rank : ranks) {
            found.push_back(rank);
            near.push_back(rank < size() ? m_workers[rank].get() : nullptr);
        }
        if (!near.empty()) {
            w.m_victims.push_back(std::move(near));
        }
    }
    std::vector<unsigned> needed(size());
    std::iota(needed.begin(), needed.end(), 0U);
    needed.erase(needed.begin() + w.m_rank);
    std::sort(found.begin(), found.end());
    if (found != needed) {
        throw std::logic_error("quern: scheduling policy '" + std::string(m_policy->name) +
                               "': the victims of worker " + std::to_string(w.m_rank) +
                               " must be all other workers, each once");
    }
}

void pool::make_policy_queues() {
    m_policy_queues = m_policy->make(policy_host(*this));
    if (m_policy_queues == nullptr) {
        throw std::logic_error("quern: scheduling policy '" + std::string(m_policy->name) +
                               "' has made no queues");
    }
    for (const auto& w : m_workers) {
        w->m_policy_queues = m_policy_queues.get();
    }
}

void pool::count_near_rings(worker& w) noexcept {
    const auto is_near = [&w](const worker::ring& victims) {
        return std::all_of(victims.begin(), victims.end(),
                           [&w](const worker* other) { return other->m_node == w.m_node; });
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
