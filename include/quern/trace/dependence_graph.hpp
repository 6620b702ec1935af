// SPDX-License-Identifier: BSL-1.0
// The graph of the dependent tasks of a run (dependences/domain.hpp): which had to wait for which,
// by their accesses. Part of a recording; the setting `graph` writes it to a file.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace quern::trace {

struct recording;

struct task_graph {
    static constexpr std::uint32_t k_none = std::numeric_limits<std::uint32_t>::max();

    /// Tasks of one name and place.
    struct kind {
        std::string name{};      ///< the name given by the user, or the function
        std::string location{};  ///< "main.cpp:42", or empty
        std::uint64_t tasks = 0;
    };

    struct node {
        std::uint32_t kind = 0;         ///< an index into kinds
        std::uint32_t domain = 0;       ///< the outermost one, counted in order of their first task
        std::uint32_t parent = k_none;  ///< the dependent task that made it: an index into nodes
        std::uint64_t task = 0;         ///< its number in the slices; 0: it has not begun
    };

    /// Tasks of one kind that come directly after tasks of another.
    struct kind_edge {
        std::uint32_t from = 0;  ///< an index into kinds
        std::uint32_t to = 0;
        std::uint64_t edges = 0;
    };

    std::vector<kind> kinds{};
    std::vector<node> nodes{};  ///< in order of creation; the first million
    /// Indices of nodes, the earlier task first; sorted by the second and the first, each once.
    /// Also those to predecessors that had released the data when the successor was made.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges{};
    std::vector<kind_edge> kind_edges{};  ///< of all tasks
    std::uint64_t tasks = 0;              ///< all, including those without a node
    /// Tasks of replay()ed steps since a recorder began. They have no nodes: each step has the
    /// graph of the recorded one, which has.
    std::uint64_t replayed = 0;
};

/// The longest chain of dependent tasks by the times in their functions, without waits. A task with
/// children counts as long as its own function and the longest chain of its children together; the
/// children of one with weak accesses also follow the tasks before it.
/// Outermost domains whose times do not overlap count one after the other; of those that overlap,
/// the longest chain counts.
struct dependence_chain {
    double total_ns = 0;  ///< 0: not known, because pieces of tasks are missing
    double work_ns = 0;   ///< of all dependent tasks
    double span_ns = 0;   ///< in which domains had tasks, from their first one to their last one
    std::vector<double> kind_ns{};  ///< the part of each of task_graph::kinds
    /// Its tasks in order, without children of another one of them.
    std::vector<std::uint32_t> nodes{};

    /// How many tasks could run at a time on any number of workers; 0: not known.
    double possible() const noexcept { return total_ns > 0 ? work_ns / total_ns : 0; }
    /// How many did, on average.
    double used() const noexcept { return span_ns > 0 ? work_ns / span_ns : 0; }
};

/// Cost: linear in nodes, edges and slices.
///
///     quern::trace::recording run;  // of a recorder
///     const auto chain = quern::trace::dependence_chain_of(run);
///     std::printf("%.1f of %.1f tasks at a time\n", chain.used(), chain.possible());
dependence_chain dependence_chain_of(const recording& run);

/// The graph in Graphviz's language. Up to 2000 tasks: a node for each, coloured by name, and solid
/// edges for dependences; a dashed one leads from a task to the children that nothing precedes.
/// Domains that made the same graph are drawn once, with their number. Beyond: a node for each
/// kind, with the number of tasks, and the 2000 largest edges with theirs. Names are escaped.
std::string write_graph(const task_graph& graph);

}  // namespace quern::trace
