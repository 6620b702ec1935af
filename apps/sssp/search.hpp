// SPDX-License-Identifier: BSL-1.0
// Shortest paths from one source: delta stepping (Meyer and Sanders, "Δ-stepping: a parallelizable
// shortest path algorithm", Journal of Algorithms 49, 2003), and Dijkstra's algorithm to compare
// with. Both compute a distance as the same sum of floats, so they agree in every bit.
#pragma once

#include "graph.hpp"

#include <quern/quern.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

namespace sssp {

inline constexpr float k_unreached = std::numeric_limits<float>::infinity();

/// What a search found. Two results are equal if all distances are, but for a collision of hashes.
struct result {
    std::uint64_t fingerprint = 0;  ///< sum of the hashes of all distances
    std::uint64_t vertices = 0;     ///< reached
    std::uint64_t ends = 0;         ///< of edges at these: twice the edges traversed

    bool operator==(const result&) const = default;
};

inline result operator+(const result& a, const result& b) noexcept {
    return {a.fingerprint + b.fingerprint, a.vertices + b.vertices, a.ends + b.ends};
}

inline result result_of(const graph& g, std::size_t v, float distance) noexcept {
    const std::uint64_t bits = std::bit_cast<std::uint32_t>(distance);
    const bool reached = distance != k_unreached;
    return {random_stream::mixed(v << 32 | bits), reached ? 1U : 0U,
            reached ? g.degree(static_cast<vertex>(v)) : 0U};
}

/// The reference: Dijkstra's algorithm with a binary heap.
inline result dijkstra(const graph& g, vertex source) {
    using entry = std::pair<float, vertex>;
    std::vector<float> distance(g.vertices(), k_unreached);
    std::priority_queue<entry, std::vector<entry>, std::greater<>> queue;
    distance[source] = 0;
    queue.emplace(0.0F, source);
    while (!queue.empty()) {
        const auto [d, u] = queue.top();
        queue.pop();
        if (d != distance[u]) {
            continue;  // was reached on a shorter path since
        }
        for (std::size_t i = g.first[u]; i < g.first[u + 1]; ++i) {
            const edge& e = g.edges[i];
            if (d + e.length < distance[e.to]) {
                distance[e.to] = d + e.length;
                queue.emplace(distance[e.to], e.to);
            }
        }
    }
    result sum;
    for (std::size_t v = 0; v < g.vertices(); ++v) {
        sum = sum + result_of(g, v, distance[v]);
    }
    return sum;
}

/// Delta stepping. Vertices are in buckets by their tentative distance, each `delta` wide. The
/// edges of a bucket's vertices are relaxed in parallel: the light ones, not longer than delta,
/// until no vertex comes back into the bucket, then the heavy ones. One search at a time.
class delta_stepping {
public:
    delta_stepping(const graph& g, float delta, unsigned workers)
        : m_graph(g),
          m_delta(delta),
          m_lanes(workers),
          m_heavy(g.vertices()),
          m_distance(g.vertices()),
          m_light_done(g.vertices()),
          m_heavy_done(g.vertices()) {
        quern::parallel_for(std::size_t{0}, g.vertices(), [this](std::size_t v) {
            const edge* const all = m_graph.edges.data();
            m_heavy[v] = static_cast<std::size_t>(
                std::partition_point(all + m_graph.first[v], all + m_graph.first[v + 1],
                                     [this](const edge& e) { return e.length <= m_delta; }) -
                all);
        });
    }

    /// Requires: called in a task of the pool with so many workers.
    void search(vertex source) {
        quern::parallel_for(std::size_t{0}, m_graph.vertices(), [this](std::size_t v) {
            m_distance[v].store(k_unreached, std::memory_order_relaxed);
            m_light_done[v].store(k_unreached, std::memory_order_relaxed);
            m_heavy_done[v].store(k_unreached, std::memory_order_relaxed);
        });
        lower(my_lane(), source, 0);
        for (std::size_t bucket = 0; bucket < buckets(); ++bucket) {
            // A heavy edge may lead into the same bucket, but only by rounding.
            while (take(bucket)) {
                do {
                    relax(m_light_done, m_graph.first.data(), m_heavy.data());
                } while (take(bucket));
                take_finished();
                relax(m_heavy_done, m_heavy.data(), m_graph.first.data() + 1);
            }
        }
    }

    result found() const {
        return quern::parallel_reduce(
            std::size_t{0}, m_graph.vertices(), result(),
            [this](std::size_t v) {
                return result_of(m_graph, v, m_distance[v].load(std::memory_order_relaxed));
            },
            std::plus<>());
    }

    /// Edges relaxed by all searches so far. Any thread.
    std::uint64_t relaxed() const noexcept {
        std::uint64_t sum = 0;
        for (const lane& each : m_lanes) {
            sum += each.relaxed.load(std::memory_order_relaxed);
        }
        return sum;
    }

private:
    /// Of one worker. Invariant: no task suspends while it uses a lane.
    struct alignas(64) lane {
        std::vector<std::vector<vertex>> buckets;
        std::vector<vertex> finished;  ///< vertices taken from the present bucket
        std::atomic<std::uint64_t> relaxed{0};
    };

    using distances = std::vector<std::atomic<float>>;

    lane& my_lane() noexcept {
        return m_lanes[static_cast<std::size_t>(quern::current_worker_rank())];
    }

    std::size_t buckets() const noexcept {
        std::size_t most = 0;
        for (const lane& each : m_lanes) {
            most = std::max(most, each.buckets.size());
        }
        return most;
    }

    static void move_to(std::vector<vertex>& to, std::vector<vertex>& from) {
        to.insert(to.end(), from.begin(), from.end());
        from.clear();
    }

    /// Empties a bucket into the frontier; false if it was empty.
    bool take(std::size_t bucket) {
        m_frontier.clear();
        for (lane& each : m_lanes) {
            if (bucket < each.buckets.size()) {
                move_to(m_frontier, each.buckets[bucket]);
            }
        }
        return !m_frontier.empty();
    }

    void take_finished() {
        m_frontier.clear();
        for (lane& each : m_lanes) {
            move_to(m_frontier, each.finished);
        }
    }

    /// Relaxes the edges [begin[u], end[u]) of each vertex u of the frontier, but those that were
    /// relaxed with the same distance before, which `done` says.
    void relax(distances& done, const std::size_t* begin, const std::size_t* end) {
        quern::parallel_for(std::size_t{0}, m_frontier.size(), [&, this](std::size_t i) {
            const vertex u = m_frontier[i];
            const float d = m_distance[u].load(std::memory_order_relaxed);
            if (done[u].exchange(d, std::memory_order_relaxed) == d) {
                return;
            }
            if (&done == &m_light_done) {
                my_lane().finished.push_back(u);
            }
            relax_edges(begin[u], end[u], d);
        });
    }

    /// A vertex may have a large part of all edges, so its edges are relaxed in parallel too.
    void relax_edges(std::size_t begin, std::size_t end, float d) {
        constexpr std::size_t k_piece = 2048;  // edges, about 10 µs
        if (end - begin <= k_piece) {
            relax_piece(begin, end, d);
            return;
        }
        quern::parallel_for(std::size_t{0}, (end - begin + k_piece - 1) / k_piece,
                            quern::grain::fixed(1), [=, this](std::size_t piece) {
                                const std::size_t from = begin + piece * k_piece;
                                relax_piece(from, std::min(from + k_piece, end), d);
                            });
    }

    void relax_piece(std::size_t begin, std::size_t end, float d) {
        lane& mine = my_lane();
        for (std::size_t i = begin; i < end; ++i) {
            lower(mine, m_graph.edges[i].to, d + m_graph.edges[i].length);
        }
        mine.relaxed.store(mine.relaxed.load(std::memory_order_relaxed) + (end - begin),
                           std::memory_order_relaxed);  // written only by this worker
    }

    void lower(lane& mine, vertex v, float d) {
        float known = m_distance[v].load(std::memory_order_relaxed);
        while (d < known) {
            if (m_distance[v].compare_exchange_weak(known, d, std::memory_order_relaxed)) {
                const auto bucket = static_cast<std::size_t>(d / m_delta);
                if (bucket >= mine.buckets.size()) {
                    mine.buckets.resize(bucket + 1);
                }
                mine.buckets[bucket].push_back(v);
                return;
            }
        }
    }

    const graph& m_graph;
    const float m_delta;
    std::vector<lane> m_lanes;         ///< by the rank of a worker
    std::vector<std::size_t> m_heavy;  ///< of each vertex the first heavy edge
    distances m_distance;              ///< tentative; the end of a loop orders its stores
    distances m_light_done;            ///< the distance with which light edges were relaxed last
    distances m_heavy_done;            ///< and heavy ones
    std::vector<vertex> m_frontier;
};

}  // namespace sssp
