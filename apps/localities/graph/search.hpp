// SPDX-License-Identifier: BSL-1.0
// A search from one vertex on all localities together, in rounds: each scans the edges of its
// vertices in the lowest bucket that any of them has, and sends what it has found for the vertices
// of another locality by one call. The rule says what is found: parents by levels, or distances.
#pragma once

#include "part.hpp"

#include <quern/localities/communicator.hpp>
#include <quern/localities/run_at.hpp>
#include <quern/quern.hpp>
#include <quern/task/this_task.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace graph {

/// Breadth-first search: a vertex has the parent that is found first; buckets are levels.
struct by_levels {
    using value = vertex;
    static constexpr value k_unknown = std::numeric_limits<vertex>::max();
    static constexpr bool k_once = true;  ///< a known value is final

    static value at_root(vertex root) noexcept { return root; }
    static value offered(vertex from, value, const sssp::edge&) noexcept { return from; }
    static bool is_better(value, value known) noexcept { return known == k_unknown; }
    static bool is_long(const sssp::edge&) noexcept { return false; }
    static std::size_t bucket(value, std::size_t present) noexcept { return present + 1; }
};

/// Shortest paths by delta stepping: a vertex has its tentative distance; buckets are `delta` wide.
/// The edges that are longer are scanned when the others have brought no vertex into the bucket.
struct by_lengths {
    using value = float;
    static constexpr value k_unknown = std::numeric_limits<float>::infinity();
    static constexpr bool k_once = false;
    float delta = 0.1F;

    static value at_root(vertex) noexcept { return 0; }
    static value offered(vertex, value at, const sssp::edge& e) noexcept { return at + e.length; }
    static bool is_better(value offered, value known) noexcept { return offered < known; }
    bool is_long(const sssp::edge& e) const noexcept { return e.length > delta; }
    std::size_t bucket(value at, std::size_t) const noexcept {
        return static_cast<std::size_t>(at / delta);
    }
};

/// Counts the work of a worker, and lets other tasks run every now and then, such as calls that
/// have come in. Requires: the caller uses nothing that belongs to its worker.
inline void let_others_run(std::size_t edges) {
    constexpr std::size_t k_edges = 8192;  // some 50 us
    thread_local std::size_t done = 0;
    done += edges;
    if (done >= k_edges) {
        done = 0;
        quern::this_task::yield();
    }
}

/// f(begin, end) of pieces of [0, count), in parallel if there are several.
template <class F>
void for_pieces(std::size_t count, const F& f) {
    constexpr std::size_t k_piece = 2048;  // edges, about 10 us
    if (count <= k_piece) {
        f(std::size_t{0}, count);
        return;
    }
    quern::parallel_for(std::size_t{0}, (count + k_piece - 1) / k_piece, quern::grain::fixed(1),
                        [&](std::size_t piece) {
                            const std::size_t begin = piece * k_piece;
                            f(begin, std::min(begin + k_piece, count));
                        });
}

/// One a process and rule at a time: calls find it by a static member. All localities reset it,
/// then meet, as in a barrier, then call run().
template <class Rule>
class search {
public:
    using value = typename Rule::value;

    search(const part& own, unsigned workers, Rule rule = {})
        : m_own(own), m_rule(rule), m_lanes(workers), m_known(std::size_t{1} << own.among.scale) {
        if constexpr (!Rule::k_once) {
            m_short_done = values(own.end - own.begin);
            m_long_done = values(own.end - own.begin);
        }
        for (lane& each : m_lanes) {
            each.leaving.resize(own.among.ranks);
        }
        s_here = this;
    }
    ~search() { s_here = nullptr; }
    search(const search&) = delete;
    search& operator=(const search&) = delete;

    void reset() {
        for (values* each : {&m_known, &m_short_done, &m_long_done}) {
            quern::parallel_for(std::size_t{0}, each->size(), [each](std::size_t v) {
                (*each)[v].store(Rule::k_unknown, std::memory_order_relaxed);
            });
        }
    }

    /// Requires: called in a task of the default pool, at all localities.
    void run(vertex root, const quern::localities::communicator& world) {
        if (m_own.has(root)) {
            lower(root, Rule::at_root(root));
            m_lanes.front().add(0, root);
        }
        std::size_t bucket = 0;
        while (bucket != k_no_bucket) {
            std::size_t next = round(bucket, false, world);
            if (!Rule::k_once && next != bucket) {
                next = round(bucket, true, world);
            }
            bucket = next;
        }
    }

    /// What has been found for the own vertices.
    std::vector<value> found() const {
        std::vector<value> own;
        own.reserve(m_own.end - m_own.begin);
        for (vertex v = m_own.begin; v < m_own.end; ++v) {
            own.push_back(m_known[v].load(std::memory_order_relaxed));
        }
        return own;
    }

    std::uint64_t rounds() const noexcept { return m_rounds; }
    std::uint64_t offers_sent() const noexcept { return m_offers_sent; }

private:
    struct offer {
        vertex to = 0;
        value at{};
    };
    using values = std::vector<std::atomic<value>>;
    using offers = std::vector<std::vector<offer>>;  ///< a list of each worker

    static constexpr std::size_t k_no_bucket = std::numeric_limits<std::size_t>::max();

    /// Of one worker. Invariant: no task suspends while it uses a lane.
    struct alignas(64) lane {
        std::vector<std::vector<vertex>> buckets{};
        std::vector<vertex> scanned{};  ///< in the present bucket, but for their long edges
        offers leaving{};               ///< by the locality to which they go
        /// Reached by calls of an even and of an odd round. Calls of the next round may arrive
        /// before this locality has ended the present one. Those of the round after it may not: it
        /// begins with an all_reduce() of all. Calls have ended when their answers have come.
        std::vector<vertex> arrived[2]{};

        void add(std::size_t bucket, vertex v) {
            if (bucket >= buckets.size()) {
                buckets.resize(bucket + 1);
            }
            buckets[bucket].push_back(v);
        }
    };

    lane& my_lane() noexcept {
        return m_lanes[static_cast<std::size_t>(quern::current_worker_rank())];
    }

    /// Vertices of other localities are lowered too, so that each offer is sent once, and only if
    /// it is better than those before.
    bool lower(vertex v, value offered) noexcept {
        value known = m_known[v].load(std::memory_order_relaxed);
        while (Rule::is_better(offered, known)) {
            if (m_known[v].compare_exchange_weak(known, offered, std::memory_order_relaxed)) {
                return true;
            }
        }
        return false;
    }

    /// Returns the next bucket of all localities.
    std::size_t round(std::size_t bucket, bool long_edges,
                      const quern::localities::communicator& world) {
        take_frontier(bucket, long_edges);
        scan(bucket, long_edges);
        const std::size_t sent_to = send(bucket);
        const std::size_t next =
            world
                .all_reduce(std::min(sent_to, lowest_bucket()),
                            [](std::size_t a, std::size_t b) { return std::min(a, b); })
                .get();
        sort_arrived(bucket);
        ++m_rounds;
        return next;
    }

    void take_frontier(std::size_t bucket, bool long_edges) {
        m_frontier.clear();
        for (lane& each : m_lanes) {
            if (!long_edges && bucket >= each.buckets.size()) {
                continue;
            }
            std::vector<vertex>& some = long_edges ? each.scanned : each.buckets[bucket];
            m_frontier.insert(m_frontier.end(), some.begin(), some.end());
            some.clear();
        }
    }

    void scan(std::size_t bucket, bool long_edges) {
        quern::parallel_for(std::size_t{0}, m_frontier.size(), [&, this](std::size_t i) {
            const vertex v = m_frontier[i];
            const value at = m_known[v].load(std::memory_order_relaxed);
            if constexpr (!Rule::k_once) {
                values& done = long_edges ? m_long_done : m_short_done;
                if (done[v - m_own.begin].exchange(at, std::memory_order_relaxed) == at) {
                    return;
                }
                if (!long_edges) {
                    my_lane().scanned.push_back(v);
                }
            }
            const sssp::edge* const edges = m_own.rows.edges.data() + m_own.edges_from(v);
            for_pieces(m_own.edges_to(v) - m_own.edges_from(v),
                       [&](std::size_t begin, std::size_t end) {
                           let_others_run(end - begin);
                           scan_piece(bucket, long_edges, v, at, edges + begin, edges + end);
                       });
        });
    }

    void scan_piece(std::size_t bucket, bool long_edges, vertex from, value at,
                    const sssp::edge* edge, const sssp::edge* last) {
        lane& mine = my_lane();
        for (; edge != last; ++edge) {
            const value offered = Rule::offered(from, at, *edge);
            if (m_rule.is_long(*edge) != long_edges || !lower(edge->to, offered)) {
                continue;
            }
            if (m_own.has(edge->to)) {
                mine.add(m_rule.bucket(offered, bucket), edge->to);
            } else {
                mine.leaving[static_cast<std::size_t>(m_own.among.owner(edge->to))].push_back(
                    {edge->to, offered});
            }
        }
    }

    /// Returns the lowest bucket that has got a vertex at another locality, when all have arrived.
    std::size_t send(std::size_t bucket) {
        const int all = static_cast<int>(m_own.among.ranks);
        std::vector<quern::future<std::size_t>> lowest;
        for (int distance = 1; distance < all; ++distance) {
            const int to = (m_own.rank + distance) % all;
            offers together;
            for (lane& each : m_lanes) {
                std::vector<offer>& some = each.leaving[static_cast<std::size_t>(to)];
                m_offers_sent += some.size();
                if (!some.empty()) {
                    together.push_back(std::exchange(some, {}));
                }
            }
            if (!together.empty()) {
                lowest.push_back(quern::localities::run_at(to, &search::receive, m_rounds, bucket,
                                                           std::move(together)));
            }
        }
        std::size_t result = k_no_bucket;
        for (quern::future<std::size_t>& each : lowest) {
            result = std::min(result, each.get());
        }
        return result;
    }

    /// Called by another locality, also while this one scans.
    static std::size_t receive(std::uint64_t round, std::size_t bucket, const offers& all) {
        return s_here->take(round, bucket, all);
    }

    std::size_t take(std::uint64_t round, std::size_t bucket, const offers& all) {
        std::atomic<std::size_t> lowest{k_no_bucket};
        for (const std::vector<offer>& some : all) {
            for_pieces(some.size(), [&](std::size_t begin, std::size_t end) {
                let_others_run(end - begin);
                lane& mine = my_lane();
                std::size_t least = k_no_bucket;
                for (std::size_t i = begin; i < end; ++i) {
                    if (lower(some[i].to, some[i].at)) {
                        mine.arrived[round % 2].push_back(some[i].to);
                        least = std::min(least, m_rule.bucket(some[i].at, bucket));
                    }
                }
                std::size_t known = lowest.load(std::memory_order_relaxed);
                while (least < known &&
                       !lowest.compare_exchange_weak(known, least, std::memory_order_relaxed)) {
                }
            });
        }
        return lowest.load(std::memory_order_relaxed);
    }

    std::size_t lowest_bucket() const noexcept {
        std::size_t lowest = k_no_bucket;
        for (const lane& each : m_lanes) {
            const auto some = std::find_if(each.buckets.begin(), each.buckets.end(),
                                           [](const auto& bucket) { return !bucket.empty(); });
            if (some != each.buckets.end()) {
                lowest = std::min(lowest, static_cast<std::size_t>(some - each.buckets.begin()));
            }
        }
        return lowest;
    }

    /// Puts the vertices of which calls of this round have told into buckets.
    void sort_arrived(std::size_t bucket) {
        for (lane& each : m_lanes) {
            std::vector<vertex>& arrived = each.arrived[m_rounds % 2];
            for (const vertex v : arrived) {
                each.add(m_rule.bucket(m_known[v].load(std::memory_order_relaxed), bucket), v);
            }
            arrived.clear();
        }
    }

    static inline search* s_here = nullptr;

    const part& m_own;
    const Rule m_rule;
    std::vector<lane> m_lanes;  ///< by the rank of a worker
    values m_known;             ///< of all vertices; of others' the best that was sent to them
    values m_short_done{};      ///< of own ones those with which short edges were scanned
    values m_long_done{};       ///< and long ones
    std::vector<vertex> m_frontier{};
    std::uint64_t m_rounds = 0;
    std::uint64_t m_offers_sent = 0;
};

}  // namespace graph
