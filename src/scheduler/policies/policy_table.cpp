// SPDX-License-Identifier: BSL-1.0
// Registers policies of programs, and shows their queues a view of the pool and its items.
#include <quern/scheduler/policy.hpp>

#include "policies/policy_table.hpp"

#include <quern/base/detail/nearest_match.hpp>
#include <quern/scheduler/detail/pool.hpp>
#include <quern/settings/detail/names.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace quern {

namespace {

/// More rounds over the victims are a mistake (guessed).
constexpr unsigned k_most_turns = 16;

std::string fault_of(const scheduling_policy& row) {
    if (row.summary.empty()) {
        return "has no summary";
    }
    if (row.make == nullptr && row.arrange == nullptr) {
        return "has neither queues (make) nor an order of victims (arrange)";
    }
    if (row.turns == 0 || row.turns > k_most_turns) {
        return "has turns = " + std::to_string(row.turns) + "; accepted: 1 to " +
               std::to_string(k_most_turns);
    }
    if (row.make == nullptr && row.turns != 1) {
        return "has turns = " + std::to_string(row.turns) +
               " but no queues (make) that would give something else in each";
    }
    if (row.make == nullptr && !row.steals) {
        return "has steals = false but no queues (make): the deque of a worker is for thieves too";
    }
    if (row.arrange != nullptr && !row.steals) {
        return "has steals = false and an order of victims (arrange)";
    }
    return "";
}

}  // namespace

std::span<const scheduling_policy> scheduling_policies() noexcept {
    return detail::g_policies.rows();
}

void register_policy(const scheduling_policy& row) {
    detail::require_spelt(row.name, "scheduling policy");
    if (const std::string fault = fault_of(row); !fault.empty()) {
        throw std::invalid_argument("quern: scheduling policy '" + std::string(row.name) + "' " +
                                    fault);
    }
    detail::g_policies.add({&row, 1}, "scheduling policy");
}

const scheduling_policy& find_scheduling_policy(std::string_view name) {
    if (const scheduling_policy* const row = detail::g_policies.find(name)) {
        return *row;
    }
    std::vector<std::string_view> names;
    for (const scheduling_policy& each : detail::g_policies.rows()) {
        names.push_back(each.name);
    }
    throw std::invalid_argument("quern: unknown scheduling policy '" + std::string(name) +
                                "': " + detail::accepted_values(name, names));
}

const char* ready_item::name() const noexcept {
    detail::context* const begun = detail::context::from(*m_item);
    if (begun == nullptr) {
        return m_item->name;
    }
    return begun->root().task().name;
}

std::size_t theft::share_of(std::size_t items) const noexcept {
    const std::size_t half = (items + 1) / 2;
    return batch != 0 ? batch : std::max<std::size_t>(1, std::min(batch_limit, half));
}

unsigned policy_host::workers() const noexcept { return m_pool->size(); }

unsigned policy_host::active_workers() const noexcept {
    return m_pool->knobs().active_workers.load(std::memory_order_relaxed);
}

unsigned policy_host::nodes() const noexcept { return m_pool->node_count(); }

unsigned policy_host::node_of(unsigned worker) const noexcept {
    return m_pool->at(worker).node_index();
}

bool policy_queues::take_back(unsigned, ready_item) { return false; }

ready_list policy_queues::steal(unsigned, unsigned, const theft&) { return {}; }

}  // namespace quern
