// SPDX-License-Identifier: BSL-1.0
// The same breadth-first search by MPI only, to compare with: a thread a rank, and in each level
// an MPI_Alltoallv. It also offers a vertex to its rank once.
#pragma once

#include "part.hpp"
#include "search.hpp"

#include <mpi.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace graph {

class mpi_search {
public:
    explicit mpi_search(const part& own)
        : m_own(own), m_parents(std::size_t{1} << own.among.scale), m_leaving(own.among.ranks) {}

    void reset() { m_parents.assign(m_parents.size(), by_levels::k_unknown); }

    void run(vertex root) {
        m_next.clear();
        if (m_own.has(root)) {
            m_parents[root] = root;
            m_next.push_back(root);
        }
        std::uint64_t reached = 1;
        while (reached != 0) {
            m_frontier.swap(m_next);
            m_next.clear();
            scan();
            exchange();
            reached = m_next.size();
            MPI_Allreduce(MPI_IN_PLACE, &reached, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        }
    }

    std::vector<vertex> found() const {
        return {m_parents.begin() + m_own.begin, m_parents.begin() + m_own.end};
    }

private:
    using offer = std::array<vertex, 2>;  ///< a vertex and a parent

    void scan() {
        for (const vertex from : m_frontier) {
            for (std::size_t i = m_own.edges_from(from); i < m_own.edges_to(from); ++i) {
                const vertex to = m_own.rows.edges[i].to;
                if (m_parents[to] != by_levels::k_unknown) {
                    continue;
                }
                m_parents[to] = from;
                if (m_own.has(to)) {
                    m_next.push_back(to);
                } else {
                    m_leaving[static_cast<std::size_t>(m_own.among.owner(to))].push_back(
                        {to, from});
                }
            }
        }
    }

    /// Numbers that begin at each rank's part, and of all.
    static std::vector<int> places(const std::vector<int>& counts) {
        std::vector<int> before(counts.size() + 1, 0);
        std::partial_sum(counts.begin(), counts.end(), before.begin() + 1);
        return before;
    }

    void exchange() {
        const std::size_t ranks = m_leaving.size();
        std::vector<int> out(ranks);
        std::vector<int> in(ranks);
        std::vector<offer> leaving;
        for (std::size_t to = 0; to < ranks; ++to) {
            out[to] = static_cast<int>(2 * m_leaving[to].size());
            leaving.insert(leaving.end(), m_leaving[to].begin(), m_leaving[to].end());
            m_leaving[to].clear();
        }
        MPI_Alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, MPI_COMM_WORLD);
        const std::vector<int> out_at = places(out);
        const std::vector<int> in_at = places(in);
        std::vector<offer> arrived(static_cast<std::size_t>(in_at.back()) / 2);
        MPI_Alltoallv(leaving.data(), out.data(), out_at.data(), MPI_UINT32_T, arrived.data(),
                      in.data(), in_at.data(), MPI_UINT32_T, MPI_COMM_WORLD);
        for (const auto& [to, from] : arrived) {
            if (m_parents[to] == by_levels::k_unknown) {
                m_parents[to] = from;
                m_next.push_back(to);
            }
        }
    }

    const part& m_own;
    std::vector<vertex> m_parents;  ///< of all vertices; of others' what was sent to them
    std::vector<std::vector<offer>> m_leaving;
    std::vector<vertex> m_frontier{};
    std::vector<vertex> m_next{};
};

}  // namespace graph
