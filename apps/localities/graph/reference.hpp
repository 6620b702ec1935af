// SPDX-License-Identifier: BSL-1.0
// What the searches must find: the levels of a serial breadth-first search, and the distances of
// Dijkstra's algorithm. Rank 0 has the whole graph for it.
#pragma once

#include "part.hpp"
#include "search.hpp"

#include "../../sssp/search.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace graph {

using levels = std::vector<std::uint32_t>;
inline constexpr std::uint32_t k_no_level = std::numeric_limits<std::uint32_t>::max();

inline levels levels_from(const sssp::graph& g, vertex root) {
    levels all(g.vertices(), k_no_level);
    std::vector<vertex> queue{root};
    all[root] = 0;
    for (std::size_t next = 0; next < queue.size(); ++next) {
        const vertex from = queue[next];
        for (std::size_t i = g.first[from]; i < g.first[from + 1]; ++i) {
            const vertex to = g.edges[i].to;
            if (all[to] == k_no_level) {
                all[to] = all[from] + 1;
                queue.push_back(to);
            }
        }
    }
    return all;
}

inline bool has_edge(const sssp::graph& g, vertex a, vertex b) {
    const auto [from, to] = g.degree(a) <= g.degree(b) ? std::pair(a, b) : std::pair(b, a);
    for (std::size_t i = g.first[from]; i < g.first[from + 1]; ++i) {
        if (g.edges[i].to == to) {
            return true;
        }
    }
    return false;
}

/// Whether each vertex that the root reaches has a neighbour one level above as its parent, and no
/// other vertex has one. Then the parents are a tree with these levels.
inline bool is_tree(const sssp::graph& g, vertex root, const levels& at,
                    const std::vector<vertex>& parents) {
    if (parents.size() != g.vertices() || parents[root] != root) {
        return false;
    }
    for (std::size_t i = 0; i < parents.size(); ++i) {
        const auto v = static_cast<vertex>(i);
        const vertex parent = parents[v];
        if (v == root) {
            continue;
        }
        if (at[v] == k_no_level) {
            if (parent != by_levels::k_unknown) {
                return false;
            }
        } else if (parent >= parents.size() || at[parent] == k_no_level ||
                   at[parent] + 1 != at[v] || !has_edge(g, parent, v)) {
            return false;
        }
    }
    return true;
}

/// At rank 0, for each key.
class reference {
public:
    reference() = default;
    reference(const problem& p, sssp::graph whole, bool with_paths)
        : m_whole(std::move(whole)), m_keys(sssp::random_sources(m_whole, p.k.seed, p.keys)) {
        for (const vertex key : m_keys) {
            m_levels.push_back(levels_from(m_whole, key));
            for (std::size_t v = 0; v < m_whole.vertices(); ++v) {
                if (m_levels.back()[v] != k_no_level) {
                    m_ends += m_whole.degree(static_cast<vertex>(v));
                }
            }
            if (with_paths) {
                m_paths.push_back(sssp::dijkstra(m_whole, key));
            }
        }
    }

    const std::vector<vertex>& keys() const noexcept { return m_keys; }
    /// Edges that the searches from all keys traverse.
    double edges() const noexcept { return static_cast<double>(m_ends) / 2; }

    bool is_right(std::size_t key, const std::vector<vertex>& parents) const {
        return is_tree(m_whole, m_keys[key], m_levels[key], parents);
    }
    bool is_right(std::size_t key, const std::vector<float>& distances) const {
        sssp::result sum;
        for (std::size_t v = 0; v < distances.size(); ++v) {
            sum = sum + sssp::result_of(m_whole, v, distances[v]);
        }
        return distances.size() == m_whole.vertices() && sum == m_paths[key];
    }

private:
    sssp::graph m_whole{};
    std::vector<vertex> m_keys{};
    std::vector<levels> m_levels{};
    std::vector<sssp::result> m_paths{};
    std::uint64_t m_ends = 0;
};

}  // namespace graph
