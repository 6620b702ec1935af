// SPDX-License-Identifier: BSL-1.0
// The factorisation of a column of blocks whose rows are on several ranks, which all call it. It is
// recursive: the left half of the columns is factorised, then the right half is updated by products
// of matrices and factorised. Each rank keeps the rows of the diagonal block, which each column's
// only message brings, so the halves need none. Sources: Toledo, "Locality of reference in LU
// decomposition with partial pivoting", 1997; Gustavson, "Recursion leads to automatic variable
// blocking for dense linear-algebra algorithms", 1997; "HPL algorithm", section "Panel
// factorization", netlib.org/benchmark/hpl/algorithm.html (recursion, NBMIN, NDIV, and one
// combined message).
#pragma once

#include "matrix.hpp"

#include <mpi.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace hpl {

/// One reduction that finds the pivot of a column, brings its row to all ranks, and brings the row
/// of the diagonal to the rank that had the pivot.
class pivot_exchange {
public:
    /// `width`: the most numbers of a row. The record is one element of a type of its own: MPI may
    /// divide an array of doubles.
    explicit pivot_exchange(std::size_t width) : m_record(k_header + 2 * width), m_width(width) {
        MPI_Type_contiguous(static_cast<int>(m_record.size()), MPI_DOUBLE, &m_type);
        MPI_Type_commit(&m_type);
        constexpr int k_commutes = 1;
        MPI_Op_create(&keep_better, k_commutes, &m_keep_better);
    }
    ~pivot_exchange() {
        MPI_Op_free(&m_keep_better);
        MPI_Type_free(&m_type);
    }
    pivot_exchange(const pivot_exchange&) = delete;
    pivot_exchange& operator=(const pivot_exchange&) = delete;

    /// Without a candidate; both rows are 0.
    void clear() {
        std::fill(m_record.begin(), m_record.end(), 0);
        m_record[k_size] = -1;
        m_record[k_row_width] = static_cast<double>(m_width);
    }
    void propose(double size, std::size_t row) {
        m_record[k_size] = size;
        m_record[k_row] = static_cast<double>(row);
    }
    void reduce(MPI_Comm ranks) {
        MPI_Allreduce(MPI_IN_PLACE, m_record.data(), 1, m_type, m_keep_better, ranks);
    }

    bool has_pivot() const { return m_record[k_size] > 0; }
    std::size_t row() const { return static_cast<std::size_t>(m_record[k_row]); }
    std::span<double> pivot_row() { return std::span(m_record).subspan(k_header, m_width); }
    /// Of the rank that has the diagonal; the others leave it 0.
    std::span<double> diagonal_row() { return std::span(m_record).subspan(k_header + m_width); }

private:
    enum : std::size_t { k_size, k_row, k_row_width, k_header };  // then the two rows

    /// The larger candidate, of equal ones the first, and the sum of the rows of the diagonal.
    static void keep_better(void* from, void* into, int* count, MPI_Datatype* /*type*/) {
        const auto* other = static_cast<const double*>(from);
        auto* best = static_cast<double*>(into);
        for (int i = 0; i < *count; ++i) {
            const auto width = static_cast<std::size_t>(other[k_row_width]);
            const std::size_t end = k_header + 2 * width;
            if (other[k_size] > best[k_size] ||
                (other[k_size] == best[k_size] && other[k_row] < best[k_row])) {
                std::copy_n(other, k_header + width, best);
            }
            for (std::size_t c = k_header + width; c < end; ++c) {
                best[c] += other[c];
            }
            other += end;
            best += end;
        }
    }

    std::vector<double> m_record;
    std::size_t m_width;
    MPI_Datatype m_type = MPI_DATATYPE_NULL;
    MPI_Op m_keep_better = MPI_OP_NULL;
};

class panel {
public:
    panel(matrix& a, std::size_t k, MPI_Comm column, pivot_exchange& exchange)
        : m_a(a),
          m_k(k),
          m_column(column),
          m_exchange(exchange),
          m_mine(a.from(k, k)),
          m_final(a.columns(k) * a.columns(k)),
          m_top{m_final.data(), m_mine.columns, m_mine.columns, m_mine.columns} {}

    /// Column k of blocks = its factors, and its pivots, as blas::getrf of all its rows.
    [[nodiscard]] int factorise(int* pivots) {
        const int without_pivot = factorise(0, m_mine.columns, pivots);
        for (int c = 0; m_a.has_row(m_k) && c < m_top.columns; ++c) {
            std::copy_n(&m_top(0, c), m_top.rows, &m_mine(0, c));
        }
        return without_pivot;
    }

private:
    /// Of `width` columns. Those on the left of them are factorised, and these updated by them.
    int factorise(int begin, int width, int* pivots) {
        if (width > k_narrow) {
            const int left = width / 2;
            if (const int without_pivot = factorise(begin, left, pivots)) {
                return without_pivot;
            }
            update(begin, left, width - left);
            return factorise(begin + left, width - left, pivots);
        }
        for (int c = begin; c < begin + width; ++c) {
            if (!find_pivot(c, pivots)) {
                return c + 1;
            }
            eliminate(c, begin + width);
        }
        return 0;
    }

    /// The columns after the `left` ones from `begin` by those: their rows of U on all ranks, as
    /// each has them, and the rows below.
    void update(int begin, int left, int right) {
        const int middle = begin + left;
        const blas::matrix upper = m_top.from(begin, middle, left, right);
        blas::trsm_left(m_top.from(begin, begin, left, left), upper);
        const int below = first_row(middle);
        if (const int rows = m_mine.rows - below; rows > 0) {
            blas::gemm('N', 'N', -1, m_mine.from(below, begin, rows, left), upper, 1,
                       m_mine.from(below, middle, rows, right));
        }
    }

    /// Exchanges the row of the largest number of column c with that of the diagonal, which is
    /// final then.
    bool find_pivot(int c, int* pivots) {
        m_exchange.clear();
        int largest = -1;
        double size = -1;
        for (int r = first_row(c); r < m_mine.rows; ++r) {
            if (std::abs(m_mine(r, c)) > size) {
                size = std::abs(m_mine(r, c));
                largest = r;
            }
        }
        const std::size_t before = m_a.rows_before(m_k);
        if (largest >= 0) {
            m_exchange.propose(size, m_a.global_row(before + static_cast<std::size_t>(largest)));
            read(largest, m_exchange.pivot_row());
        }
        if (m_a.has_row(m_k)) {
            read(c, m_exchange.diagonal_row());
        }
        m_exchange.reduce(m_column);
        if (!m_exchange.has_pivot()) {
            return false;
        }
        const std::size_t found = m_exchange.row();
        pivots[c] = static_cast<int>(found - m_a.first(m_k)) + 1;
        write(m_exchange.pivot_row(), m_top, c);
        if (m_a.owner_of_row(found) == m_a.grid().my_row()) {
            write(m_exchange.diagonal_row(), m_mine,
                  static_cast<int>(m_a.local_row(found) - before));
        }
        return true;
    }

    /// Column c of L, and its multiples subtracted from the columns before `end`.
    void eliminate(int c, int end) {
        const int below = first_row(c + 1);
        const double pivot = m_top(c, c);
        for (int r = below; r < m_mine.rows; ++r) {
            m_mine(r, c) /= pivot;
        }
        for (int to = c + 1; to < end; ++to) {
            const double upper = m_top(c, to);
            for (int r = below; r < m_mine.rows; ++r) {
                m_mine(r, to) -= m_mine(r, c) * upper;
            }
        }
    }

    /// The first row of this rank that is not above row i of the panel.
    int first_row(int i) const { return m_a.has_row(m_k) ? i : 0; }

    void read(int row, std::span<double> into) const {
        for (int c = 0; c < m_mine.columns; ++c) {
            into[static_cast<std::size_t>(c)] = m_mine(row, c);
        }
    }
    static void write(std::span<const double> from, const blas::matrix& to, int row) {
        for (int c = 0; c < to.columns; ++c) {
            to(row, c) = from[static_cast<std::size_t>(c)];
        }
    }

    /// Columns that are eliminated one by one: HPL's NBMIN, which is 4 in its example. Guessed.
    static constexpr int k_narrow = 8;

    const matrix& m_a;
    std::size_t m_k;
    MPI_Comm m_column;
    pivot_exchange& m_exchange;
    blas::matrix m_mine;          ///< rows of this rank; those of the diagonal block at the end
    std::vector<double> m_final;  ///< the numbers of m_top
    blas::matrix m_top;           ///< rows of the diagonal block, on all ranks
};

}  // namespace hpl
