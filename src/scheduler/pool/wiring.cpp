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
    for (const auto& w : workers()) {
        if (policy().arrange != nullptr) {
            arrange_victims(*w);
        }
        w->count_near_rings();
    }
    if (policy().make != nullptr) {
        make_policy_queues();
    }
}

void pool::wire_victims(const pool_description& description) {
    for (std::uint32_t rank = 0; rank < size(); ++rank) {
        std::vector<worker_shared::ring> rings;
        if (rank < description.victims.size()) {
            for (const auto& ring : description.victims[rank]) {
                worker_shared::ring near;
                near.reserve(ring.size());
                for (const std::uint32_t other : ring) {
                    near.push_back(workers().at(other).get());
                }
                if (!near.empty()) {
                    rings.push_back(std::move(near));
                }
            }
        } else if (size() > 1) {
            worker_shared::ring all;
            all.reserve(size());
            for (std::uint32_t i = 1; i < size(); ++i) {
                all.push_back(workers()[(rank + i) % size()].get());
            }
            rings.push_back(std::move(all));
        }
        workers()[rank]->set_victims(std::move(rings));
    }
}

void pool::wire_nodes() {
    for (const auto& w : workers()) {
        const unsigned number = numa_node_of(w->rank()).value_or(0);
        auto found = std::find_if(m_nodes.begin(), m_nodes.end(),
                                  [number](const auto& n) { return n->number == number; });
        if (found == m_nodes.end()) {
            m_nodes.push_back(std::make_unique<node>());
            m_nodes.back()->number = number;
            found = std::prev(m_nodes.end());
        }
        (*found)->workers.push_back(w.get());
        w->set_node(static_cast<std::uint32_t>(found - m_nodes.begin()));
    }
}

/// Every other worker must remain a victim: work that no worker may take would keep all of them
/// awake.
void pool::arrange_victims(worker& w) {
    victim_rings wanted;
    for (const worker_shared::ring& near : w.victims()) {
        auto& ranks = wanted.emplace_back();
        for (const worker_shared* other : near) {
            ranks.push_back(other->rank());
        }
    }
    policy().arrange(policy_host(*this), w.rank(), wanted);

    std::vector<worker_shared::ring> rings;
    std::vector<unsigned> found;
    for (const std::vector<unsigned>& ranks : wanted) {
        worker_shared::ring near;
        for (const unsigned rank : ranks) {
            found.push_back(rank);
            near.push_back(rank < size() ? workers()[rank].get() : nullptr);
        }
        if (!near.empty()) {
            rings.push_back(std::move(near));
        }
    }
    std::vector<unsigned> needed(size());
    std::iota(needed.begin(), needed.end(), 0U);
    needed.erase(needed.begin() + w.rank());
    std::sort(found.begin(), found.end());
    if (found != needed) {
        throw std::logic_error("quern: scheduling policy '" + std::string(policy().name) +
                               "': the victims of worker " + std::to_string(w.rank()) +
                               " must be all other workers, each once");
    }
    w.set_victims(std::move(rings));
}

void pool::make_policy_queues() {
    kept_by_policy() = policy().make(policy_host(*this));
    if (kept_by_policy() == nullptr) {
        throw std::logic_error("quern: scheduling policy '" + std::string(policy().name) +
                               "' has made no queues");
    }
    for (const auto& w : workers()) {
        w->set_policy_queues(*kept_by_policy());
    }
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
