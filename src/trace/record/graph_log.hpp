// SPDX-License-Identifier: BSL-1.0
// The log of dependent tasks and their edges, one for the process. It is attached to the layer
// dependences while a recorder wants it, and forgets all when the last of these ends.
#pragma once

#include "record/site_table.hpp"

#include <quern/dependences/detail/graph_recording.hpp>
#include <quern/trace/dependence_graph.hpp>

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace quern::trace::detail {

class graph_log final : public quern::detail::graph_recording {
public:
    static graph_log& of_process();

    /// A recorder begins: it will get what is registered from now on.
    std::uint64_t begin();
    /// It ends. What was registered since `mark`, the result of begin(), in these pools; empty in
    /// the child of a fork().
    task_graph end(std::uint64_t mark, std::span<const quern::detail::pool* const> pools);

    void registers(quern::detail::domain_shared& home,
                   const quern::detail::dependent_task& task) noexcept override;
    void follows(const quern::detail::dependent_task& earlier,
                 const quern::detail::dependent_task& later) noexcept override;
    void registers(const quern::detail::weak_entry& part) noexcept override;
    void follows(const quern::detail::dependent_task& earlier,
                 const quern::detail::weak_entry& later) noexcept override;
    void follows(const quern::detail::weak_entry& earlier,
                 const quern::detail::weak_entry& later) noexcept override;
    void follows(const quern::detail::weak_entry& earlier,
                 const quern::detail::dependent_task& later) noexcept override;
    void replays(const quern::detail::domain_shared& home) noexcept override;
    void begins(const quern::detail::dependent_task& task) noexcept override;

private:
    /// 32 MB of nodes (guessed). Of further tasks only the kinds are counted.
    static constexpr std::uint64_t k_most_nodes = 1'000'000;

    struct logged {
        const quern::detail::pool* home;
        std::uint64_t task;
        std::uint64_t domain;
        std::uint32_t parent;
        std::uint32_t kind;
    };
    /// The task at an address. The address may have been that of an earlier one.
    struct known {
        std::uint64_t number;          ///< in order of registration, from 0
        std::uint64_t last_successor;  ///< its number plus 1, or 0
        std::uint32_t kind;
    };
    class built;

    known* find(const quern::detail::dependent_task& task) noexcept;
    std::uint32_t kind_of(const quern::detail::dependent_task& task);
    std::uint64_t domain_of(quern::detail::domain_shared& home, const known* parent);
    void add(quern::detail::domain_shared& home, const quern::detail::dependent_task& task);
    void add_edge(known& earlier, const known& later);
    void forget() noexcept;
    /// Calls f() with the lock, unless this is the child of a fork(). What f() has no memory for is
    /// not shown.
    template <class F>
    void log(F f) noexcept;

    unsigned m_recorders = 0;
    unsigned m_generation = 0;         ///< of the process; a forked child ignores the log
    std::uint64_t m_registered = 0;    ///< since the log was empty
    std::uint64_t m_domains = 0;       ///< of all times: a domain keeps its number
    std::uint64_t m_first_domain = 0;  ///< numbers up to this one are of an earlier log
    site_table m_kinds;
    std::vector<logged> m_nodes;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> m_edges;
    std::unordered_map<const quern::detail::dependent_task*, known> m_tasks;
    /// What the part of a weak access at an address follows.
    std::unordered_map<const quern::detail::weak_entry*, std::vector<known>> m_parts;
    struct {
        const quern::detail::dependent_task* task = nullptr;
        known* entry = nullptr;
    } m_last;                                    ///< registered, of m_tasks: most edges lead to it
    std::vector<std::uint64_t> m_further_tasks;  ///< by kind
    std::unordered_map<const quern::detail::pool*, std::uint64_t> m_replayed;  ///< tasks
    std::unordered_map<std::uint64_t, std::uint64_t> m_further_edges;          ///< by pair of kinds
};

}  // namespace quern::trace::detail
