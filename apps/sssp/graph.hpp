// SPDX-License-Identifier: BSL-1.0
// The graphs of the Graph500 benchmark, version 3: Kronecker graphs with 16 edges a vertex and
// weights uniform in [0, 1). Called by main.cpp once, in a task. An edge is a function of the seed
// and its number, so a graph is the same with every number of workers, and edges need not be kept.
#pragma once

#include <quern/quern.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace sssp {

using vertex = std::uint32_t;

/// One end of an undirected edge.
struct edge {
    vertex to = 0;
    float length = 0;
};

/// An undirected graph; each edge is stored at both ends. Self-loops and multiple edges are kept,
/// because Graph500 counts them.
struct graph {
    std::vector<std::size_t> first;  ///< of each vertex in `edges`; one more at the end
    std::vector<edge> edges;         ///< those of a vertex in the order of their lengths

    std::size_t vertices() const noexcept { return first.size() - 1; }
    std::size_t degree(vertex v) const noexcept { return first[v + 1] - first[v]; }
};

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). Streams are independent of one another.
class random_stream {
public:
    random_stream(std::uint64_t seed, std::uint64_t stream) noexcept
        : m_state(mixed(seed + k_step * (stream + 1))) {}

    std::uint64_t next() noexcept { return mixed(m_state += k_step); }
    float fraction() noexcept { return static_cast<float>(next() >> 40) * 0x1p-24F; }
    /// In [0, limit). Requires: a limit of less than 2^32; then the bias is below 2^-31.
    std::uint64_t below(std::uint64_t limit) noexcept { return (next() >> 32) * limit >> 32; }

    static std::uint64_t mixed(std::uint64_t z) noexcept {
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }

private:
    static constexpr std::uint64_t k_step = 0x9e3779b97f4a7c15U;

    std::uint64_t m_state;
};

/// Parameters of a graph.
struct kronecker {
    unsigned scale = 16;  ///< 2^scale vertices
    std::uint64_t seed = 1;

    static constexpr std::size_t k_edge_factor = 16;

    std::size_t vertices() const noexcept { return std::size_t{1} << scale; }
    std::size_t edges() const noexcept { return k_edge_factor * vertices(); }

    /// The ends, before vertices are renamed, and the length of an edge.
    std::tuple<vertex, vertex, float> edge_of(std::size_t number) const noexcept {
        constexpr float k_a = 0.57F;
        constexpr float k_b = 0.19F;
        constexpr float k_c = 0.19F;
        random_stream random(seed, number);
        vertex from = 0;
        vertex to = 0;
        for (unsigned bit = 0; bit < scale; ++bit) {
            const bool lower = random.fraction() >= k_a + k_b;
            const float left = lower ? k_c / (1 - (k_a + k_b)) : k_a / (k_a + k_b);
            from = 2 * from + (lower ? 1 : 0);
            to = 2 * to + (random.fraction() >= left ? 1 : 0);
        }
        return {from, to, random.fraction()};
    }
};

/// New names of vertices in random order, so that a name says nothing about a degree.
inline std::vector<vertex> shuffled_names(const kronecker& k) {
    std::vector<vertex> names(k.vertices());
    std::iota(names.begin(), names.end(), vertex{0});
    random_stream random(k.seed, k.edges());
    for (std::size_t i = names.size(); i > 1; --i) {
        std::swap(names[i - 1], names[random.below(i)]);
    }
    return names;
}

/// Builds the graph in parallel. Edges are computed twice: to count them, then to store them.
inline graph make_graph(const kronecker& k) {
    graph g;
    g.edges.reserve(2 * k.edges());  // first, because it needs most of the memory
    const std::vector<vertex> names = shuffled_names(k);
    g.first.assign(k.vertices() + 2, 0);
    quern::parallel_for(std::size_t{0}, k.edges(), [&](std::size_t i) {
        const auto [from, to, length] = k.edge_of(i);
        for (const vertex v : {from, to}) {
            std::atomic_ref(g.first[names[v] + 2]).fetch_add(1, std::memory_order_relaxed);
        }
    });
    std::partial_sum(g.first.begin(), g.first.end(), g.first.begin());
    g.edges.resize(2 * k.edges());
    quern::parallel_for(std::size_t{0}, k.edges(), [&](std::size_t i) {
        const auto [from, to, length] = k.edge_of(i);
        for (const auto& [at, other] : {std::pair(from, to), std::pair(to, from)}) {
            std::atomic_ref place(g.first[names[at] + 1]);  // ends where the next vertex begins
            g.edges[place.fetch_add(1, std::memory_order_relaxed)] = {names[other], length};
        }
    });
    g.first.pop_back();
    quern::parallel_for(std::size_t{0}, g.vertices(), [&](std::size_t v) {
        edge* const all = g.edges.data();
        std::sort(all + g.first[v], all + g.first[v + 1], [](const edge& a, const edge& b) {
            return std::tie(a.length, a.to) < std::tie(b.length, b.to);
        });
    });
    return g;
}

/// Random vertices with a neighbour; the same one may come twice.
inline std::vector<vertex> random_sources(const graph& g, std::uint64_t seed, std::size_t count) {
    const auto has_neighbour = [&g](vertex v) {
        return std::any_of(g.edges.begin() + static_cast<std::ptrdiff_t>(g.first[v]),
                           g.edges.begin() + static_cast<std::ptrdiff_t>(g.first[v + 1]),
                           [v](const edge& e) { return e.to != v; });
    };
    random_stream random(~seed, 0);
    std::vector<vertex> sources;
    while (sources.size() < count) {
        const auto v = static_cast<vertex>(random.below(g.vertices()));
        if (has_neighbour(v)) {
            sources.push_back(v);
        }
    }
    return sources;
}

}  // namespace sssp
