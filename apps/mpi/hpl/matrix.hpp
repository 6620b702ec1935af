// SPDX-License-Identifier: BSL-1.0
// What a rank has of A x = b: blocks that a grid of ranks deals out in turns in both directions.
// Its rows of a column of blocks are one matrix by columns. b is the column of blocks after the
// last one of A.
#pragma once

#include "../../common/dense.hpp"
#include "../common/rank_grid.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace hpl {

using apps::mpi::rank_grid;

class matrix {
public:
    matrix(std::size_t n, std::size_t width, const rank_grid& grid)
        : m_n(n), m_width(width), m_grid(grid), m_columns(count() + 1) {
        for (std::size_t j = 0; j <= count(); ++j) {
            if (has_column(j)) {
                m_columns[j].resize(rows_before(count()) * columns(j));
            }
        }
    }

    void reset() {
        for_each([this](std::size_t j, std::size_t local, std::size_t r, std::size_t c) {
            m_columns[j][(c - first(j)) * rows_before(count()) + local] = element(r, c);
        });
    }

    const rank_grid& grid() const { return m_grid; }
    std::size_t n() const { return m_n; }
    /// Blocks of A in each direction.
    std::size_t count() const { return (m_n + m_width - 1) / m_width; }
    /// The first row or column of a block, and its columns.
    std::size_t first(std::size_t j) const { return std::min(j * m_width, m_n); }
    std::size_t columns(std::size_t j) const {
        return j < count() ? std::min(m_width, m_n - first(j)) : 1;
    }
    bool has_column(std::size_t j) const { return m_grid.column_of(j) == m_grid.my_column(); }
    bool has_row(std::size_t i) const { return m_grid.row_of(i) == m_grid.my_row(); }

    /// The rows of this rank that are in blocks before i.
    std::size_t rows_before(std::size_t i) const {
        const auto mine = static_cast<std::size_t>(m_grid.my_row());
        const auto all = static_cast<std::size_t>(m_grid.rows());
        const std::size_t blocks = i > mine ? (i - mine + all - 1) / all : 0;
        const bool has_last = i == count() && has_row(count() - 1);
        return blocks * m_width - (has_last ? m_width - columns(count() - 1) : 0);
    }
    /// Of a row of the whole: the row of ranks that has it, and which of their rows it is.
    int owner_of_row(std::size_t row) const { return m_grid.row_of(row / m_width); }
    std::size_t local_row(std::size_t row) const {
        return row / m_width / static_cast<std::size_t>(m_grid.rows()) * m_width + row % m_width;
    }
    std::size_t global_row(std::size_t local) const {
        const std::size_t block = local / m_width * static_cast<std::size_t>(m_grid.rows()) +
                                  static_cast<std::size_t>(m_grid.my_row());
        return block * m_width + local % m_width;
    }

    std::vector<double>& numbers(std::size_t j) { return m_columns[j]; }
    /// The rows of this rank from those of block i on, in column j of blocks.
    blas::matrix from(std::size_t i, std::size_t j) {
        const std::size_t above = rows_before(i);
        const std::size_t rows = rows_before(count());
        return {m_columns[j].data() + above, static_cast<int>(rows - above),
                static_cast<int>(columns(j)), static_cast<int>(rows)};
    }

    /// Numbers of what ranks in this row need of a factorised column: pivots, and its rows from
    /// the diagonal on.
    std::size_t message_size(std::size_t k) const {
        return columns(k) * (1 + rows_before(count()) - rows_before(k));
    }
    std::size_t largest_message() const { return message_size(0); }

    /// |A x - b| / (eps (|A| |x| + |b|) n), in largest numbers and sums of rows, from new numbers.
    double residual(const std::vector<double>& x) const {
        std::vector<double> sums(2 * m_n);  // of A x - b, and of |A|
        double largest_b = 0;
        for_each([&](std::size_t j, std::size_t, std::size_t r, std::size_t c) {
            const double a = element(r, c);
            sums[r] += j < count() ? a * x[c] : -a;
            sums[m_n + r] += j < count() ? std::abs(a) : 0;
            largest_b = j < count() ? largest_b : std::max(largest_b, std::abs(a));
        });
        MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(2 * m_n), MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, &largest_b, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        const auto largest = [](std::span<const double> of) {
            double worst = 0;
            for (const double each : of) {
                worst =
                    std::abs(each) <= worst ? worst : std::abs(each);  // also if it is no number
            }
            return worst;
        };
        constexpr double k_eps = std::numeric_limits<double>::epsilon() / 2;  // as HPL's
        const std::span<const double> both(sums);
        return largest(both.first(m_n)) /
               (k_eps * (largest(both.subspan(m_n)) * largest(x) + largest_b) *
                static_cast<double>(m_n));
    }

private:
    static double element(std::size_t r, std::size_t c) { return apps::dense::element(r, c, 0); }

    /// f(column of blocks, row of this rank, row, column) for each number of this rank.
    template <class F>
    void for_each(const F& f) const {
        for (std::size_t j = 0; j <= count(); ++j) {
            for (std::size_t c = first(j); has_column(j) && c < first(j) + columns(j); ++c) {
                for (std::size_t local = 0; local < rows_before(count()); ++local) {
                    f(j, local, global_row(local), c);
                }
            }
        }
    }

    std::size_t m_n;
    std::size_t m_width;
    rank_grid m_grid;
    std::vector<std::vector<double>> m_columns;  ///< empty if of other ranks
};

}  // namespace hpl
