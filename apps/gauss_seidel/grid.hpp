// SPDX-License-Identifier: BSL-1.0
// Heat in a square by Gauss-Seidel sweeps: each point becomes the mean of its four neighbours, in
// place and in the order of rows. By blocks, which lie one after the other in memory, or as a
// whole: both give the same bits. Shared by the application and by bench/gauss_seidel; must not
// include a runtime.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace gauss_seidel {

/// Where the neighbours of a block are. `step`: from a number to the one a row below.
struct surroundings {
    const double* top;
    const double* bottom;
    const double* left;
    std::size_t left_step;
    const double* right;
    std::size_t right_step;
};

/// One sweep over a block of rows * columns points. The sum begins with the numbers that are known
/// first, for each point waits for the one left of it. Never inlined: all variants run the same
/// instructions.
[[gnu::noinline]] inline void sweep_block(double* block, std::size_t rows, std::size_t columns,
                                          const surroundings& around) {
    for (std::size_t r = 0; r < rows; ++r) {
        double* const row = block + r * columns;
        const double* const above = r == 0 ? around.top : row - columns;
        const double* const below = r + 1 == rows ? around.bottom : row + columns;
        double last = around.left[r * around.left_step];
        for (std::size_t c = 0; c + 1 < columns; ++c) {
            last = (above[c] + below[c] + row[c + 1] + last) * 0.25;
            row[c] = last;
        }
        const std::size_t c = columns - 1;
        row[c] = (above[c] + below[c] + around.right[r * around.right_step] + last) * 0.25;
    }
}

/// n x n points inside four edges, whose temperature stays.
class grid {
public:
    grid(std::size_t n, std::size_t side)
        : m_n(n),
          m_side(side),
          m_blocks((n + side - 1) / side),
          m_points(n * n),
          m_hot(n, 1.0),
          m_cold(n, 0.0) {
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

    /// The same points with the same bits; the blocks may have other sizes.
    bool equals(grid& other) {
        for (std::size_t r = 0; r < m_n; ++r) {
            for (std::size_t c = 0; c < m_n; ++c) {
                if (point(r, c) != other.point(r, c)) {
                    return false;
                }
            }
        }
        return true;
    }

private:
    static double initial(std::size_t r, std::size_t c) {
        return static_cast<double>((r * 7919 + c * 104729) % 1000) / 1000;
    }

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

/// The sweeps over the whole grid. Requires: it is one block.
inline void sweep_serially(grid& g, int sweeps) {
    for (int s = 0; s < sweeps; ++s) {
        g.sweep(0, 0);
    }
}

}  // namespace gauss_seidel
