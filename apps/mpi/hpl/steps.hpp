// SPDX-License-Identifier: BSL-1.0
// The steps of the factorisation, each called by all ranks of a column of the grid: a column of
// blocks is factorised, or updated by one; and back substitution. They wait for messages of the
// other ranks, so as tasks they are suspended meanwhile.
#pragma once

#include "panel.hpp"

#include <mpi.h>
#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace hpl {

class steps {
public:
    /// Called by all ranks, as the destructor.
    explicit steps(matrix& a) : m_a(a), m_lines(a.grid()), m_exchange(a.columns(0)) {}

    matrix& a() { return m_a; }
    MPI_Comm row() const { return m_lines.row(); }

    /// Column k of blocks = its factors; `message`: as the ranks in this row need it. One column at
    /// a time: its collective calls have no tags.
    void factorise(std::size_t k, std::span<double> message) {
        const blas::matrix rows = m_a.from(k, k);
        std::vector<int> pivots(m_a.columns(k));
        if (m_a.grid().rows() == 1) {
            require_pivot(blas::getrf(rows, pivots.data()), k);
        } else {
            panel of_several(m_a, k, m_lines.column(), m_exchange);
            require_pivot(of_several.factorise(pivots.data()), k);
        }
        const auto after = std::copy(pivots.begin(), pivots.end(), message.begin());
        for (int c = 0; c < rows.columns; ++c) {
            std::copy_n(&rows(0, c), rows.rows, after + std::ptrdiff_t{c} * rows.rows);
        }
    }

    /// Column j: exchanges its rows, computes its part of U, and subtracts the product from the
    /// rest. Any number of different columns at a time.
    void update(std::size_t k, std::span<const double> message, std::size_t j) {
        const int tag = static_cast<int>(2 * (k * (m_a.count() + 1) + j));
        exchange_rows(k, message.first(m_a.columns(k)), j, tag);
        const blas::matrix to = m_a.from(k, j);
        const int width = static_cast<int>(m_a.columns(k));
        const blas::matrix factors{const_cast<double*>(&message[m_a.columns(k)]), to.rows, width,
                                   to.rows};  // read only
        std::vector<double> upper(static_cast<std::size_t>(width * to.columns));
        const blas::matrix u{upper.data(), width, to.columns, width};
        if (m_a.has_row(k)) {
            blas::trsm_left(factors, to.from(0, 0, width, to.columns));
            for (int c = 0; c < u.columns; ++c) {
                std::copy_n(&to(0, c), width, &u(0, c));
            }
            for (int other = 0; other < m_a.grid().rows(); ++other) {
                if (other != m_a.grid().my_row()) {
                    MPI_Send(upper.data(), width * u.columns, MPI_DOUBLE, other, tag + 1,
                             m_lines.column());
                }
            }
        } else {
            MPI_Recv(upper.data(), width * u.columns, MPI_DOUBLE, m_a.grid().row_of(k), tag + 1,
                     m_lines.column(), MPI_STATUS_IGNORE);
        }
        const int above = m_a.has_row(k) ? width : 0;
        if (to.rows > above) {
            blas::gemm('N', 'N', -1, factors.from(above, 0, to.rows - above, width), u, 1,
                       to.from(above, 0, to.rows - above, to.columns));
        }
    }

    /// The solution x, on all ranks. From the last block to the first: what the ranks of its row
    /// have subtracted is summed up, its owner solves, and the ranks of its column subtract what
    /// it adds to the rows above.
    std::vector<double> solve() {
        std::vector<double> x(m_a.n());
        std::vector<double> left(m_a.rows_before(m_a.count()));
        if (m_a.has_column(m_a.count())) {
            left = m_a.numbers(m_a.count());
        }
        for (std::size_t k = m_a.count(); k-- > 0;) {
            const int width = static_cast<int>(m_a.columns(k));
            std::vector<double> part(m_a.columns(k));
            if (m_a.has_row(k)) {
                MPI_Reduce(&left[m_a.rows_before(k)], part.data(), width, MPI_DOUBLE, MPI_SUM,
                           m_a.grid().column_of(k), m_lines.row());
            }
            if (!m_a.has_column(k)) {
                continue;
            }
            const blas::matrix solved{part.data(), width, 1, width};
            if (m_a.has_row(k)) {
                blas::trsm_upper(m_a.from(k, k).from(0, 0, width, width), solved);
                std::copy(part.begin(), part.end(), &x[m_a.first(k)]);
            }
            MPI_Bcast(part.data(), width, MPI_DOUBLE, m_a.grid().row_of(k), m_lines.column());
            const int above = static_cast<int>(m_a.rows_before(k));
            if (above > 0) {
                blas::gemm('N', 'N', -1, m_a.from(0, k).from(0, 0, above, width), solved, 1,
                           {left.data(), above, 1, above});
            }
        }
        MPI_Allreduce(MPI_IN_PLACE, x.data(), static_cast<int>(m_a.n()), MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
        return x;
    }

private:
    /// `column`: the first without a pivot, counted from 1, or 0.
    void require_pivot(int column, std::size_t k) const {
        if (column != 0) {
            fmt::print(stderr, "hpl: the matrix is singular: column {} has no pivot\n",
                       m_a.first(k) + static_cast<std::size_t>(column));
            MPI_Abort(MPI_COMM_WORLD, apps::k_wrong_answer);  // others wait for the column
        }
    }

    /// All exchanges of a step in column j at once: where each row comes from in the end. One
    /// message to each rank that gets rows, in the order of pairs of ranks.
    void exchange_rows(std::size_t k, std::span<const double> pivots, std::size_t j, int tag) {
        std::map<std::size_t, std::size_t> sources;
        for (std::size_t t = 0; t < pivots.size(); ++t) {
            const std::size_t to = m_a.first(k) + t;
            const std::size_t from = m_a.first(k) + static_cast<std::size_t>(pivots[t]) - 1;
            std::swap(sources.try_emplace(to, to).first->second,
                      sources.try_emplace(from, from).first->second);
        }
        const auto ranks = static_cast<std::size_t>(m_a.grid().rows());
        const auto me = static_cast<std::size_t>(m_a.grid().my_row());
        const blas::matrix all = m_a.from(0, j);
        const auto width = static_cast<std::size_t>(all.columns);
        std::vector<std::vector<double>> leaves(ranks);
        std::vector<std::vector<double>> comes(ranks);
        for (const auto& [to, from] : sources) {
            const auto sender = static_cast<std::size_t>(m_a.owner_of_row(from));
            const auto receiver = static_cast<std::size_t>(m_a.owner_of_row(to));
            for (std::size_t c = 0; sender == me && c < width; ++c) {
                leaves[receiver].push_back(
                    all(static_cast<int>(m_a.local_row(from)), static_cast<int>(c)));
            }
            if (receiver == me) {
                comes[sender].resize(comes[sender].size() + width);
            }
        }
        comes[me] = leaves[me];
        for (std::size_t other = 0; other < ranks; ++other) {
            if (other != me && leaves[other].size() + comes[other].size() > 0) {
                MPI_Sendrecv(leaves[other].data(), static_cast<int>(leaves[other].size()),
                             MPI_DOUBLE, static_cast<int>(other), tag, comes[other].data(),
                             static_cast<int>(comes[other].size()), MPI_DOUBLE,
                             static_cast<int>(other), tag, m_lines.column(), MPI_STATUS_IGNORE);
            }
        }
        std::vector<std::size_t> taken(ranks);
        for (const auto& [to, from] : sources) {
            const auto sender = static_cast<std::size_t>(m_a.owner_of_row(from));
            const bool is_mine = m_a.owner_of_row(to) == m_a.grid().my_row();
            for (std::size_t c = 0; is_mine && c < width; ++c) {
                all(static_cast<int>(m_a.local_row(to)), static_cast<int>(c)) =
                    comes[sender][taken[sender]++];
            }
        }
    }

    matrix& m_a;
    apps::mpi::rank_lines m_lines;
    pivot_exchange m_exchange;
};

}  // namespace hpl
