// SPDX-License-Identifier: BSL-1.0
// Heat in a square by Gauss-Seidel sweeps: each point becomes the mean of its four neighbours, in
// place and in the order of rows. By blocks, which lie one after the other in memory, or by rows:
// both give the same bits. Shared by the application and by bench/gauss_seidel; must not
// include a runtime.
#pragma once

#include "kernels.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace gauss_seidel {

inline constexpr double k_hot = 1;   // above the grid
inline constexpr double k_cold = 0;  // along its other edges

/// n x n points inside four edges, whose temperature stays.
class grid {
public:
    grid(std::size_t n, std::size_t side)
        : m_n(n),
          m_side(side),
          m_blocks((n + side - 1) / side),
          m_points(n * n),
          m_hot(n, k_hot),
          m_cold(n, k_cold) {
        reset();
    }

    void reset() {
        for (std::size_t i = 0; i < m_blocks; ++i) {
            for (std::size_t j = 0; j < m_blocks; ++j) {
                double* at = m_points.data() + begin_of(i, j);
                for (std::size_t r = 0; r < rows_of(i); ++r) {
                    for (std::size_t c = 0; c < rows_of(j); ++c) {
                        *at++ = initial(i * m_side + r, j * m_side + c);
                    }
                }
            }
        }
    }

    std::size_t blocks() const { return m_blocks; }

    std::span<double> block(std::size_t i, std::size_t j) {
        return {m_points.data() + begin_of(i, j), rows_of(i) * rows_of(j)};
    }

    // The neighbours of a block: other blocks, or the part of an edge.
    std::span<const double> above(std::size_t i, std::size_t j) {
        return i > 0 ? block(i - 1, j) : edge(m_hot, j);
    }
    std::span<const double> below(std::size_t i, std::size_t j) {
        return i + 1 < m_blocks ? block(i + 1, j) : edge(m_cold, j);
    }
    std::span<const double> left_of(std::size_t i, std::size_t j) {
        return j > 0 ? block(i, j - 1) : edge(m_cold, i);
    }
    std::span<const double> right_of(std::size_t i, std::size_t j) {
        return j + 1 < m_blocks ? block(i, j + 1) : edge(m_cold, i);
    }

    void sweep(std::size_t i, std::size_t j) {
        const double* const top = above(i, j).data();
        const bool has_left = j > 0;
        const bool has_right = j + 1 < m_blocks;
        sweep_block(block(i, j).data(), rows_of(i), rows_of(j),
                    {.top = i > 0 ? top + (rows_of(i - 1) - 1) * rows_of(j) : top,
                     .bottom = below(i, j).data(),
                     .left = left_of(i, j).data() + (has_left ? rows_of(j - 1) - 1 : 0),
                     .left_step = has_left ? rows_of(j - 1) : 1,
                     .right = right_of(i, j).data(),
                     .right_step = has_right ? rows_of(j + 1) : 1});
    }

    /// Whether the points, by rows, have the same bits.
    bool equals(const std::vector<double>& rows) const {
        for (std::size_t r = 0; r < m_n; ++r) {
            for (std::size_t c = 0; c < m_n; ++c) {
                if (point(r, c) != rows[r * m_n + c]) {
                    return false;
                }
            }
        }
        return true;
    }

    static double initial(std::size_t r, std::size_t c) {
        return static_cast<double>((r * 7919 + c * 104729) % 1000) / 1000;
    }

private:
    std::size_t rows_of(std::size_t i) const { return std::min(m_side, m_n - i * m_side); }
    std::size_t begin_of(std::size_t i, std::size_t j) const {
        return i * m_side * m_n + rows_of(i) * (j * m_side);
    }
    std::span<const double> edge(const std::vector<double>& of, std::size_t i) const {
        return {of.data() + i * m_side, rows_of(i)};
    }
    double point(std::size_t r, std::size_t c) const {
        const std::size_t i = r / m_side;
        const std::size_t j = c / m_side;
        return m_points[begin_of(i, j) + r % m_side * rows_of(j) + c % m_side];
    }

    std::size_t m_n;
    std::size_t m_side;
    std::size_t m_blocks;
    std::vector<double> m_points;  ///< block after block, by rows of blocks
    std::vector<double> m_hot;
    std::vector<double> m_cold;
};

/// The sweeps, block after block.
inline void sweep_serially(grid& g, int sweeps) {
    for (int s = 0; s < sweeps; ++s) {
        for (std::size_t i = 0; i < g.blocks(); ++i) {
            for (std::size_t j = 0; j < g.blocks(); ++j) {
                g.sweep(i, j);
            }
        }
    }
}

/// The points, by rows, after the same sweeps without blocks: what all others are compared with.
inline std::vector<double> swept_by_rows(std::size_t n, int sweeps) {
    std::vector<double> points(n * n);
    for (std::size_t i = 0; i < n * n; ++i) {
        points[i] = grid::initial(i / n, i % n);
    }
    for (int s = 0; s < sweeps; ++s) {
        for (std::size_t r = 0; r < n; ++r) {
            for (std::size_t c = 0; c < n; ++c) {
                double* const at = &points[r * n + c];
                const double above = r > 0 ? *(at - n) : k_hot;
                const double below = r + 1 < n ? at[n] : k_cold;
                const double right = c + 1 < n ? at[1] : k_cold;
                const double left = c > 0 ? *(at - 1) : k_cold;
                *at = (above + below + right + left) * 0.25;
            }
        }
    }
    return points;
}

}  // namespace gauss_seidel
