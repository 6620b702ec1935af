// SPDX-License-Identifier: BSL-1.0
// Writes the log of dependent tasks, under the lock trace, and makes the graph of a recording from
// it.
#include "record/graph_log.hpp"

#include "record/site_names.hpp"

#include <quern/base/detail/process.hpp>
#include <quern/dependences/detail/dependent_task.hpp>
#include <quern/dependences/detail/domain_shared.hpp>
#include <quern/task/this_task.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <string>

namespace quern::trace::detail {

using quern::detail::dependent_task;
using quern::detail::domain_shared;
using quern::detail::fork_generation;
using quern::detail::lock_of;
using quern::detail::process_lock;
using quern::detail::weak_entry;

namespace {

constexpr unsigned k_kind_bits = 32;

}  // namespace

/// Never destroyed: an owner of a domain may be inside when the process ends.
graph_log& graph_log::of_process() {
    static graph_log& one = *new graph_log;
    return one;
}

// -- the log -----------------------------------------------------------------------------------

std::uint64_t graph_log::begin() {
    const std::scoped_lock lock(lock_of(process_lock::trace));
    if (m_recorders == 0 || m_generation != fork_generation()) {
        forget();
        m_recorders = 0;
        m_generation = fork_generation();
        quern::detail::set_graph_recording(this);
    }
    ++m_recorders;
    return m_registered;
}

/// Requires: the lock trace is held.
void graph_log::forget() noexcept {
    m_registered = 0;
    m_first_domain = m_domains;
    m_kinds = site_table();
    m_nodes = {};
    m_edges = {};
    m_tasks = {};
    m_parts = {};
    m_last = {};
    m_further_tasks = {};
    m_further_edges = {};
    m_replayed = {};
}

void graph_log::registers(domain_shared& home, const dependent_task& task) noexcept {
    if (m_generation != fork_generation()) {
        return;
    }
    const std::scoped_lock lock(lock_of(process_lock::trace));
    m_last = {};
    try {
        add(home, task);
    } catch (const std::bad_alloc&) {  // it has no node
        m_tasks.erase(&task);
    }
}

void graph_log::add(domain_shared& home, const dependent_task& task) {
    const known* const parent = home.parent() != nullptr ? find(*home.parent()) : nullptr;
    const std::uint64_t number = m_registered++;
    const std::uint32_t kind = kind_of(task);
    const std::uint64_t domain = domain_of(home, parent);
    const bool has_node = number == m_nodes.size() && number < k_most_nodes;
    if (has_node) {
        const bool is_shown = parent != nullptr && parent->number < m_nodes.size();
        m_nodes.push_back(
            {&task.home_pool(), 0, domain,
             is_shown ? static_cast<std::uint32_t>(parent->number) : task_graph::k_none, kind});
    } else {
        m_further_tasks.resize(std::max<std::size_t>(m_further_tasks.size(), kind + 1));
        ++m_further_tasks[kind];
    }
    const auto at = m_tasks.insert_or_assign(&task, known{number, 0, kind}).first;
    m_last = {&task, &at->second};
}

/// Null: it was made before the log began.
graph_log::known* graph_log::find(const dependent_task& task) noexcept {
    if (m_last.task == &task) {
        return m_last.entry;
    }
    const auto at = m_tasks.find(&task);
    return at != m_tasks.end() ? &at->second : nullptr;
}

std::uint32_t graph_log::kind_of(const dependent_task& task) {
    quern::detail::task_record record;
    record.name = task.name;
    record.site = task.site;
    record.entry = task.run;
    return m_kinds.find(record);
}

std::uint64_t graph_log::domain_of(domain_shared& home, const known* parent) {
    if (parent != nullptr && parent->number < m_nodes.size()) {
        return m_nodes[parent->number].domain;
    }
    std::uint64_t& number = home.root().recording_number();
    if (number <= m_first_domain) {
        number = ++m_domains;
    }
    return number;
}

template <class F>
void graph_log::log(F f) noexcept {
    if (m_generation != fork_generation()) {
        return;
    }
    const std::scoped_lock lock(lock_of(process_lock::trace));
    try {
        f();
    } catch (const std::bad_alloc&) {  // said in the header
    }
}

void graph_log::follows(const dependent_task& earlier, const dependent_task& later) noexcept {
    log([&] {
        known* const from = find(earlier);
        const known* const to = find(later);
        if (from != nullptr && to != nullptr) {
            add_edge(*from, *to);
        }
    });
}

// A part keeps copies: the task at an address may be another one when the part has successors.

void graph_log::registers(const weak_entry& part) noexcept {
    log([&] { m_parts[&part].clear(); });
}

void graph_log::follows(const dependent_task& earlier, const weak_entry& later) noexcept {
    log([&] {
        if (const known* const from = find(earlier)) {
            m_parts[&later].push_back(*from);
        }
    });
}

void graph_log::follows(const weak_entry& earlier, const weak_entry& later) noexcept {
    log([&] {
        const std::vector<known> all = m_parts[&earlier];
        std::vector<known>& to = m_parts[&later];
        to.insert(to.end(), all.begin(), all.end());
    });
}

void graph_log::follows(const weak_entry& earlier, const dependent_task& later) noexcept {
    log([&] {
        if (const known* const to = find(later)) {
            for (known& each : m_parts[&earlier]) {
                add_edge(each, *to);
            }
        }
    });
}

/// The edges to one task come one after the other, so the same one is noticed.
void graph_log::add_edge(known& earlier, const known& later) {
    if (earlier.last_successor == later.number + 1) {
        return;
    }
    earlier.last_successor = later.number + 1;
    if (later.number < m_nodes.size()) {
        m_edges.emplace_back(static_cast<std::uint32_t>(earlier.number),
                             static_cast<std::uint32_t>(later.number));
    } else {
        ++m_further_edges[std::uint64_t{earlier.kind} << k_kind_bits | later.kind];
    }
}

void graph_log::replays(const domain_shared& home) noexcept {
    log([&] { ++m_replayed[&home.home_pool()]; });
}

void graph_log::begins(const dependent_task& task) noexcept {
    if (m_generation != fork_generation()) {
        return;
    }
    const std::uint64_t id = this_task::id();
    const std::scoped_lock lock(lock_of(process_lock::trace));
    const known* const its = find(task);
    if (its != nullptr && its->number < m_nodes.size()) {
        m_nodes[its->number].task = id;
    }
}

// -- the graph ---------------------------------------------------------------------------------

/// What a recorder gets, made of a copy of the log, without its lock: names take long.
class graph_log::built {
public:
    built(const graph_log& from, std::uint64_t mark)
        : m_kinds(from.m_kinds.all()),
          m_edges(from.m_edges),
          m_further_tasks(from.m_further_tasks),
          m_further_edges(from.m_further_edges),
          m_replayed(from.m_replayed) {
        const std::uint64_t first = std::min<std::uint64_t>(mark, from.m_nodes.size());
        m_nodes.assign(from.m_nodes.begin() + static_cast<std::ptrdiff_t>(first),
                       from.m_nodes.end());
        m_first = static_cast<std::uint32_t>(first);
    }

    task_graph give(std::span<const quern::detail::pool* const> pools) {
        m_places.assign(m_nodes.size(), task_graph::k_none);
        for (std::size_t i = 0; i < m_nodes.size(); ++i) {
            if (std::find(pools.begin(), pools.end(), m_nodes[i].home) != pools.end()) {
                m_places[i] = static_cast<std::uint32_t>(m_made.nodes.size());
                add_node(m_nodes[i]);
            }
        }
        add_edges();
        for (std::size_t i = 0; i < m_further_tasks.size(); ++i) {
            if (m_further_tasks[i] != 0) {
                m_made.kinds[kind(static_cast<std::uint32_t>(i))].tasks += m_further_tasks[i];
                m_made.tasks += m_further_tasks[i];
            }
        }
        for (const auto& [home, tasks] : m_replayed) {
            if (std::find(pools.begin(), pools.end(), home) != pools.end()) {
                m_made.replayed += tasks;
            }
        }
        for (const auto& [pair, edges] : m_further_edges) {
            m_pairs[{kind(static_cast<std::uint32_t>(pair >> k_kind_bits)),
                     kind(static_cast<std::uint32_t>(pair))}] += edges;
        }
        for (const auto& [pair, edges] : m_pairs) {
            m_made.kind_edges.push_back({pair.first, pair.second, edges});
        }
        return std::move(m_made);
    }

private:
    void add_node(const logged& from) {
        const auto domain = m_domains.try_emplace(from.domain, m_domains.size()).first->second;
        m_made.nodes.push_back(
            {kind(from.kind), static_cast<std::uint32_t>(domain), place(from.parent), from.task});
        ++m_made.kinds[m_made.nodes.back().kind].tasks;
        ++m_made.tasks;
    }

    void add_edges() {
        for (const auto& [from, to] : m_edges) {
            if (place(from) != task_graph::k_none && place(to) != task_graph::k_none) {
                m_made.edges.emplace_back(place(from), place(to));
            }
        }
        auto& all = m_made.edges;
        std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
            return std::pair(a.second, a.first) < std::pair(b.second, b.first);
        });
        all.erase(std::unique(all.begin(), all.end()), all.end());  // through several parts
        for (const auto& [from, to] : all) {
            ++m_pairs[{m_made.nodes[from].kind, m_made.nodes[to].kind}];
        }
    }

    /// The index in the graph of a node of the log.
    std::uint32_t place(std::uint32_t node) const noexcept {
        const bool is_there = node >= m_first && node - m_first < m_places.size();
        return is_there ? m_places[node - m_first] : task_graph::k_none;
    }

    /// The index in the graph of a kind of the log. Kinds that differ only in the address are one.
    std::uint32_t kind(std::uint32_t of) {
        const auto known = m_known_kinds.find(of);
        if (known != m_known_kinds.end()) {
            return known->second;
        }
        site_name words = name_site(m_kinds[of]);
        const auto [at, is_new] = m_by_name.try_emplace(
            std::pair(words.name, words.location), static_cast<std::uint32_t>(m_made.kinds.size()));
        if (is_new) {
            m_made.kinds.push_back({std::move(words.name), std::move(words.location)});
        }
        m_known_kinds.emplace(of, at->second);
        return at->second;
    }

    std::uint32_t m_first = 0;  ///< the number of m_nodes.front()
    std::vector<site_count> m_kinds;
    std::vector<logged> m_nodes;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> m_edges;
    std::vector<std::uint64_t> m_further_tasks;
    std::unordered_map<std::uint64_t, std::uint64_t> m_further_edges;
    std::unordered_map<const quern::detail::pool*, std::uint64_t> m_replayed;
    std::vector<std::uint32_t> m_places;
    std::unordered_map<std::uint64_t, std::size_t> m_domains;
    std::unordered_map<std::uint32_t, std::uint32_t> m_known_kinds;
    std::map<std::pair<std::string, std::string>, std::uint32_t> m_by_name;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> m_pairs;
    task_graph m_made;
};

task_graph graph_log::end(std::uint64_t mark, std::span<const quern::detail::pool* const> pools) {
    if (m_generation != fork_generation()) {
        return {};
    }
    std::optional<built> copy;
    {
        const std::scoped_lock lock(lock_of(process_lock::trace));
        copy.emplace(*this, mark);
        if (--m_recorders == 0) {
            quern::detail::set_graph_recording(nullptr);
            forget();
        }
    }
    return copy->give(pools);
}

}  // namespace quern::trace::detail
