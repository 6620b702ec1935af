// SPDX-License-Identifier: BSL-1.0
// What a rank has of C = A B: rows of A and C, and a block of rows of B, which later visits all
// ranks. And the check of the product by a vector.
#pragma once

#include "../../common/dense.hpp"
#include "../common/ranks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace ring {

using apps::mpi::place;
using apps::mpi::share;

/// In place of the number of a piece: all of the block.
inline constexpr std::size_t k_whole = static_cast<std::size_t>(-1);

/// Matrices by rows; BLAS, which has them by columns, is given the transposed product
/// C' = B' A'.
class problem {
public:
    /// `pieces`: in so many messages tasks pass a block on.
    problem(std::size_t n, std::size_t side, std::size_t pieces, const place& at)
        : m_n(n), m_side(side), m_pieces(pieces), m_at(at), m_rows(apps::mpi::share_of(n, at)) {
        m_a = random(0);
        first_block = random(n);
        m_c.resize(m_rows.count * n);
    }

    /// Of B, filled as at the beginning; as large as the largest block of a rank.
    std::vector<double> first_block;

    void reset() { std::fill(m_c.begin(), m_c.end(), 0.0); }

    std::size_t n() const { return m_n; }
    const place& at() const { return m_at; }
    std::size_t steps() const { return static_cast<std::size_t>(m_at.ranks); }
    std::size_t pieces() const { return m_pieces; }
    /// Which rows of B a piece has of the block that is here in a step: it comes from the next
    /// rank.
    share rows_in_step(std::size_t step, std::size_t piece) const {
        const int owner = (m_at.rank + static_cast<int>(step)) % m_at.ranks;
        return rows_of(apps::mpi::share_of(m_n, {owner, m_at.ranks}), piece);
    }
    /// Numbers in that piece.
    int numbers_in_step(std::size_t step, std::size_t piece) const {
        return static_cast<int>(rows_in_step(step, piece).count * m_n);
    }
    /// Numbers in the largest piece of a block.
    std::size_t largest_piece() const {
        const std::size_t rows = first_block.size() / m_n;
        return (rows + m_pieces - 1) / m_pieces * m_n;
    }
    /// A copy of a piece of the first block, as large as that piece of any block.
    std::vector<double> first_of(std::size_t piece) const {
        const share rows = rows_of(m_rows, piece);
        std::vector<double> numbers(largest_piece());
        std::copy_n(
            first_block.begin() + static_cast<std::ptrdiff_t>((rows.first - m_rows.first) * m_n),
            rows.count * m_n, numbers.begin());
        return numbers;
    }
    /// Of the message with which a piece leaves.
    int tag(std::size_t step, std::size_t piece) const {
        return static_cast<int>(step * m_pieces + (piece == k_whole ? 0 : piece));
    }
    int left() const { return (m_at.rank + m_at.ranks - 1) % m_at.ranks; }
    int right() const { return (m_at.rank + 1) % m_at.ranks; }

    // C in tiles.
    std::size_t tile_rows() const { return (m_rows.count + m_side - 1) / m_side; }
    std::size_t tile_columns() const { return (m_n + m_side - 1) / m_side; }
    double* tile(std::size_t i, std::size_t j) { return &m_c[i * m_side * m_n + j * m_side]; }
    std::size_t height(std::size_t i) const { return std::min(m_side, m_rows.count - i * m_side); }
    std::size_t width(std::size_t j) const { return std::min(m_side, m_n - j * m_side); }

    /// Tile (i, j) of C += rows of A times the columns of a piece.
    void multiply(std::size_t step, std::size_t piece, const double* numbers, std::size_t i,
                  std::size_t j) {
        add_product(rows_in_step(step, piece), numbers, {i * m_side, height(i)},
                    {j * m_side, width(j)});
    }
    void multiply_all(std::size_t step, const double* block) {
        add_product(rows_in_step(step, k_whole), block, {0, m_rows.count}, {0, m_n});
    }

    /// |C x - A (B x)| / (|A| |B| |x| n eps) of all ranks, in largest numbers and sums of rows.
    double residual() const {
        std::vector<double> x(m_n);
        for (std::size_t i = 0; i < m_n; ++i) {
            x[i] = 2 * apps::dense::element(i, 3 * m_n, 0);
        }
        const std::vector<double> product = times(m_a, gathered(times(first_block, x)));
        const std::vector<double> c = times(m_c, x);
        double worst[3] = {0, norm(m_a), norm(first_block)};
        for (std::size_t r = 0; r < m_rows.count; ++r) {
            const double difference = std::abs(c[r] - product[r]);
            worst[0] = difference <= worst[0] ? worst[0] : difference;  // also if it is no number
        }
        MPI_Allreduce(MPI_IN_PLACE, worst, 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        return worst[0] / (worst[1] * worst[2] * static_cast<double>(m_n) *
                           std::numeric_limits<double>::epsilon());
    }

private:
    /// The rank's rows of a matrix; room for those of the largest part of a rank.
    std::vector<double> random(std::size_t below) const {
        const auto ranks = static_cast<std::size_t>(m_at.ranks);
        std::vector<double> rows((m_n + ranks - 1) / ranks * m_n);
        for (std::size_t i = 0; i < m_rows.count * m_n; ++i) {
            rows[i] = apps::dense::element(below + m_rows.first + i / m_n, i % m_n, 0);
        }
        return rows;
    }

    share rows_of(share block, std::size_t piece) const {
        if (piece == k_whole) {
            return block;
        }
        const share part =
            apps::mpi::share_of(block.count, {static_cast<int>(piece), static_cast<int>(m_pieces)});
        return {block.first + part.first, part.count};
    }

    void add_product(share depth, const double* block, share rows, share columns) {
        const int n = static_cast<int>(m_n);
        const auto number = [](std::size_t count) { return static_cast<int>(count); };
        // BLAS reads the first two.
        const blas::matrix b{const_cast<double*>(block + columns.first), number(columns.count),
                             number(depth.count), n};
        const blas::matrix a{&m_a[rows.first * m_n + depth.first], number(depth.count),
                             number(rows.count), n};
        const blas::matrix c{&m_c[rows.first * m_n + columns.first], number(columns.count),
                             number(rows.count), n};
        blas::gemm('N', 'N', 1, b, a, 1, c);
    }

    std::vector<double> times(const std::vector<double>& rows, const std::vector<double>& x) const {
        std::vector<double> y(m_rows.count);
        for (std::size_t r = 0; r < m_rows.count; ++r) {
            for (std::size_t c = 0; c < m_n; ++c) {
                y[r] += rows[r * m_n + c] * x[c];
            }
        }
        return y;
    }

    double norm(const std::vector<double>& rows) const {
        double worst = 0;
        for (std::size_t r = 0; r < m_rows.count; ++r) {
            double sum = 0;
            for (std::size_t c = 0; c < m_n; ++c) {
                sum += std::abs(rows[r * m_n + c]);
            }
            worst = std::max(worst, sum);
        }
        return worst;
    }

    std::vector<double> gathered(const std::vector<double>& mine) const {
        std::vector<int> counts;
        std::vector<int> places;
        for (int rank = 0; rank < m_at.ranks; ++rank) {
            const share part = apps::mpi::share_of(m_n, {rank, m_at.ranks});
            counts.push_back(static_cast<int>(part.count));
            places.push_back(static_cast<int>(part.first));
        }
        std::vector<double> all(m_n);
        MPI_Allgatherv(mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, all.data(),
                       counts.data(), places.data(), MPI_DOUBLE, MPI_COMM_WORLD);
        return all;
    }

    std::size_t m_n;
    std::size_t m_side;
    std::size_t m_pieces;
    place m_at;
    share m_rows;
    std::vector<double> m_a;
    std::vector<double> m_c;
};

}  // namespace ring
