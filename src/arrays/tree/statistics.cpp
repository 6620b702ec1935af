// SPDX-License-Identifier: BSL-1.0
#include "tree/statistics.hpp"

#include <stdexcept>

namespace quern::arrays {

namespace detail {

namespace {

double inclusive_ticks(const tree_parts& all, node_number n) noexcept {
    const node_totals own = all.counts.total(n);
    return own.mean_inclusive() * static_cast<double>(own.evaluations);
}

/// Whether the time without operands was measured: else it is what the operands leave.
bool knows_exclusive(node_kind kind) noexcept {
    return kind == node_kind::call || kind == node_kind::call_tree ||
           kind == node_kind::call_foreign;
}

double exclusive_ticks(const tree_parts& all, node_number n) noexcept {
    if (knows_exclusive(all.nodes[n].kind)) {
        const node_totals own = all.counts.total(n);
        return own.mean_exclusive() * static_cast<double>(own.evaluations);
    }
    double left = inclusive_ticks(all, n);
    for (const node_number each : all.nodes[n].operands) {
        left -= inclusive_ticks(all, each);
    }
    return std::max(left, 0.0);
}

}  // namespace

node_statistics statistics_of(const tree_parts& all, node_number n) noexcept {
    const node_totals own = all.counts.total(n);
    const std::uint64_t tasks = std::min(own.tasks, own.evaluations);
    const auto ns = [](double ticks) {
        return static_cast<std::uint64_t>(ticks * quern::detail::ns_per_tick());
    };
    return {.evaluations = own.evaluations,
            .inlined = own.evaluations - tasks,
            .inclusive_ns = ns(inclusive_ticks(all, n)),
            .exclusive_ns = ns(exclusive_ticks(all, n))};
}

std::vector<placed_node> in_order(const tree_parts& all) {
    std::vector<placed_node> made;
    std::vector<placed_node> open{{all.root, 0}};
    while (!open.empty()) {
        const placed_node next = open.back();
        open.pop_back();
        made.push_back(next);
        const std::vector<node_number>& operands = all.nodes[next.number].operands;
        for (std::size_t i = operands.size(); i-- > 0;) {
            open.push_back({operands[i], next.depth + 1u});
        }
    }
    return made;
}

}  // namespace detail

node_statistics tree::statistics(node of) const {
    const detail::tree_parts& all = *m_parts;
    if (of >= all.nodes.size()) {
        throw std::invalid_argument("quern: tree " + all.name + ": node " + std::to_string(of) +
                                    " does not exist: it has " + std::to_string(all.nodes.size()));
    }
    if (!all.is_finished()) {
        return {};
    }
    return detail::statistics_of(all, of);
}

void tree::reset_statistics() const noexcept {
    if (m_parts->is_finished()) {
        detail::keep_in_counters(*m_parts);
        m_parts->counts.reset();
        m_parts->calls.store(0, std::memory_order_relaxed);
    }
}

}  // namespace quern::arrays
