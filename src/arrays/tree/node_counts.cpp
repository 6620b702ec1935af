// SPDX-License-Identifier: BSL-1.0
#include "tree/node_counts.hpp"

#include <quern/scheduler/detail/context.hpp>
#include <quern/scheduler/detail/pool.hpp>

#include <new>

namespace quern::arrays::detail {

count_shares::~count_shares() {
    for (const std::atomic<node_counts*>& each : m_shares) {
        delete[] each.load(std::memory_order_relaxed);
    }
}

void count_shares::make(std::size_t nodes) {
    m_shares[0].store(new node_counts[nodes], std::memory_order_relaxed);
    m_nodes = nodes;
}

node_counts* count_shares::of_caller() noexcept {
    const auto* const worker = quern::detail::current_worker();
    std::atomic<node_counts*>& own = m_shares[worker != nullptr ? worker->rank() % k_shares : 0];
    // acquire: pairs with the release of the thread that made the share
    if (node_counts* const there = own.load(std::memory_order_acquire)) {
        return there;
    }
    auto* const made = new (std::nothrow) node_counts[m_nodes];
    if (made == nullptr) {
        return m_shares[0].load(std::memory_order_relaxed);
    }
    node_counts* other = nullptr;
    // release: pairs with the acquire above and in total(); acquire: what another one has made
    if (own.compare_exchange_strong(other, made, std::memory_order_acq_rel)) {
        return made;
    }
    delete[] made;
    return other;
}

node_totals count_shares::total(std::size_t node) const noexcept {
    node_totals sum;
    for (const std::atomic<node_counts*>& each : m_shares) {
        // acquire: pairs with the release of of_caller()
        const node_counts* const share = each.load(std::memory_order_acquire);
        if (share == nullptr) {
            continue;
        }
        const node_counts& part = share[node];
        sum.evaluations += part.evaluations.load(std::memory_order_relaxed);
        sum.tasks += part.tasks.load(std::memory_order_relaxed);
        sum.timed += part.timed.load(std::memory_order_relaxed);
        sum.inclusive += part.inclusive.load(std::memory_order_relaxed);
        sum.exclusive += part.exclusive.load(std::memory_order_relaxed);
        sum.fused += part.fused.load(std::memory_order_relaxed);
    }
    return sum;
}

void count_shares::reset() noexcept {
    for (const std::atomic<node_counts*>& each : m_shares) {
        // acquire: pairs with the release of of_caller()
        node_counts* const share = each.load(std::memory_order_acquire);
        for (std::size_t i = 0; share != nullptr && i < m_nodes; ++i) {
            node_counts& part = share[i];
            for (auto* count : {&part.evaluations, &part.tasks, &part.timed, &part.inclusive,
                                &part.exclusive, &part.fused}) {
                count->store(0, std::memory_order_relaxed);
            }
        }
    }
}

}  // namespace quern::arrays::detail
