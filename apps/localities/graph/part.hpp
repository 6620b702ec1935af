// SPDX-License-Identifier: BSL-1.0
// The graph, dealt to the localities: each has a block of the vertices, with all of their edges.
// Names of vertices are in random order, so that blocks have about as many edges each.
#pragma once

#include "../../sssp/graph.hpp"

#include <quern/quern.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace graph {

using sssp::vertex;

struct problem {
    sssp::kronecker k{};
    std::size_t edge_factor = sssp::kronecker::k_edge_factor;
    std::size_t keys = 4;
    double delta = 0.1;

    std::size_t edges() const noexcept { return edge_factor * k.vertices(); }
};

/// Which rank has a vertex.
struct dealing {
    unsigned scale = 0;
    std::uint64_t ranks = 1;

    int owner(vertex v) const noexcept { return static_cast<int>(v * ranks >> scale); }
    /// The first vertex of a rank's block; of rank `ranks`, the end of all.
    vertex first_of(int rank) const noexcept {
        return static_cast<vertex>(((static_cast<std::uint64_t>(rank) << scale) + ranks - 1) /
                                   ranks);
    }
};

/// The vertices of a rank; vertex v is row v - begin of `rows`, whose edges have global names.
struct part {
    dealing among{};
    int rank = 0;
    vertex begin = 0;
    vertex end = 0;
    sssp::graph rows{};

    bool has(vertex v) const noexcept { return v >= begin && v < end; }
    std::size_t edges_from(vertex v) const noexcept { return rows.first[v - begin]; }
    std::size_t edges_to(vertex v) const noexcept { return rows.first[v - begin + 1]; }
};

/// Builds the part in parallel. Each rank computes all edges, which is faster than to send them,
/// and does so twice: to count its own, then to store them.
inline part make_part(const problem& p, int rank, int ranks) {
    const dealing among{p.k.scale, static_cast<std::uint64_t>(ranks)};
    part made{among, rank, among.first_of(rank), among.first_of(rank + 1), {}};
    const std::vector<vertex> names = sssp::shuffled_names(p.k);
    const auto for_own_ends = [&](const auto& f) {
        quern::parallel_for(std::size_t{0}, p.edges(), [&](std::size_t i) {
            const auto [from, to, length] = p.k.edge_of(i);
            for (const auto& [at, other] : {std::pair(from, to), std::pair(to, from)}) {
                if (made.has(names[at])) {
                    f(names[at] - made.begin, names[other], length);
                }
            }
        });
    };
    std::vector<std::size_t>& first = made.rows.first;
    first.assign(std::size_t{made.end} - made.begin + 2, 0);
    for_own_ends([&](std::size_t row, vertex, float) {
        std::atomic_ref(first[row + 2]).fetch_add(1, std::memory_order_relaxed);
    });
    std::partial_sum(first.begin(), first.end(), first.begin());
    made.rows.edges.resize(first.back());
    for_own_ends([&](std::size_t row, vertex other, float length) {
        std::atomic_ref place(first[row + 1]);  // ends where the next row begins
        made.rows.edges[place.fetch_add(1, std::memory_order_relaxed)] = {other, length};
    });
    first.pop_back();
    return made;
}

}  // namespace graph
