// SPDX-License-Identifier: BSL-1.0
// The points of a rank: some rows of a square inside edges whose temperature stays, in two copies,
// and a row of each neighbour above and below (the halo). And the serial sweeps that all variants
// are compared with.
#pragma once

#include "../common/ranks.hpp"
#include "kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace jacobi {

/// In row r and column c, from -1 to n: the top edge is hot, the others are cold.
inline double initial(std::ptrdiff_t r, std::ptrdiff_t c, std::ptrdiff_t n) {
    if (r < 0 || c < 0 || r == n || c == n) {
        return r < 0 ? 1 : 0;
    }
    return static_cast<double>((r * 7919 + c * 104729) % 1000) / 1000;
}

class grid {
public:
    grid(std::size_t n, std::size_t side, const apps::mpi::place& at)
        : m_n(n),
          m_side(side),
          m_rows(apps::mpi::share_of(n, at)),
          m_at(at),
          m_points{std::vector<double>((m_rows.count + 2) * (n + 2)),
                   std::vector<double>((m_rows.count + 2) * (n + 2))} {}

    void reset() {
        const auto first = static_cast<std::ptrdiff_t>(m_rows.first);
        const auto n = static_cast<std::ptrdiff_t>(m_n);
        for (std::ptrdiff_t r = -1; r <= static_cast<std::ptrdiff_t>(m_rows.count); ++r) {
            for (std::ptrdiff_t c = -1; c <= n; ++c) {
                m_points[0][index(r, c)] = m_points[1][index(r, c)] = initial(first + r, c, n);
            }
        }
    }

    std::size_t n() const { return m_n; }
    std::size_t rows() const { return m_rows.count; }
    std::ptrdiff_t pitch() const { return static_cast<std::ptrdiff_t>(m_n) + 2; }
    const apps::mpi::place& at() const { return m_at; }

    /// Of copy 0 or 1; rows from -1 to rows(), columns from -1 to n().
    double* point(std::size_t copy, std::ptrdiff_t r, std::ptrdiff_t c) {
        return m_points[copy].data() + index(r, c);
    }

    std::size_t tile_rows() const { return (m_rows.count + m_side - 1) / m_side; }
    std::size_t tile_columns() const { return (m_n + m_side - 1) / m_side; }
    std::size_t tiles() const { return tile_rows() * tile_columns(); }
    /// Rows of the tiles in row i; columns of those in column j.
    std::size_t height(std::size_t i) const { return std::min(m_side, m_rows.count - i * m_side); }
    std::size_t width(std::size_t j) const { return std::min(m_side, m_n - j * m_side); }
    double* tile(std::size_t copy, std::size_t i, std::size_t j) {
        return point(copy, static_cast<std::ptrdiff_t>(i * m_side),
                     static_cast<std::ptrdiff_t>(j * m_side));
    }
    shape shape_of(std::size_t i, std::size_t j) const { return {height(i), width(j), pitch()}; }
    shape whole() const { return {m_rows.count, m_n, pitch()}; }

    /// All rows of all ranks, on rank 0; nothing on others.
    std::vector<double> gathered(std::size_t copy) {
        std::vector<double> mine;
        for (std::size_t r = 0; r < m_rows.count; ++r) {
            const double* const row = point(copy, static_cast<std::ptrdiff_t>(r), 0);
            mine.insert(mine.end(), row, row + m_n);
        }
        std::vector<int> counts;
        std::vector<int> places;
        for (int rank = 0; m_at.is_first() && rank < m_at.ranks; ++rank) {
            const apps::mpi::share part = apps::mpi::share_of(m_n, {rank, m_at.ranks});
            counts.push_back(static_cast<int>(part.count * m_n));
            places.push_back(static_cast<int>(part.first * m_n));
        }
        std::vector<double> all(m_at.is_first() ? m_n * m_n : 0);
        MPI_Gatherv(mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, all.data(),
                    counts.data(), places.data(), MPI_DOUBLE, 0, MPI_COMM_WORLD);
        return all;
    }

private:
    std::size_t index(std::ptrdiff_t r, std::ptrdiff_t c) const {
        return static_cast<std::size_t>((r + 1) * pitch() + c + 1);
    }

    std::size_t m_n;
    std::size_t m_side;
    apps::mpi::share m_rows;
    apps::mpi::place m_at;
    std::array<std::vector<double>, 2> m_points;
};

/// How often to sweep, and after which number of sweeps the change is asked for again.
struct plan {
    std::size_t steps;
    std::size_t every;

    bool reports(std::size_t step) const { return (step + 1) % every == 0; }
    std::size_t reports() const { return steps / every; }
};

struct outcome {
    std::vector<double> points;   ///< by rows; on rank 0
    std::vector<double> changes;  ///< the largest of a point, for each report
};

/// One array, plain loops.
inline outcome swept_serially(std::size_t n, const plan& p) {
    const auto size = static_cast<std::ptrdiff_t>(n);
    outcome all{std::vector<double>(n * n), {}};
    std::vector<double>& now = all.points;
    for (std::ptrdiff_t i = 0; i < size * size; ++i) {
        now[static_cast<std::size_t>(i)] = initial(i / size, i % size, size);
    }
    std::vector<double> next(n * n);
    for (std::size_t step = 0; step < p.steps; ++step) {
        double change = 0;
        for (std::size_t r = 0; r < n; ++r) {
            for (std::size_t c = 0; c < n; ++c) {
                const std::size_t i = r * n + c;
                const double above = r > 0 ? now[i - n] : 1;
                const double below = r + 1 < n ? now[i + n] : 0;
                const double right = c + 1 < n ? now[i + 1] : 0;
                const double left = c > 0 ? now[i - 1] : 0;
                next[i] = (above + below + right + left) * 0.25;
                change = std::max(change, std::abs(next[i] - now[i]));
            }
        }
        std::swap(now, next);
        if (p.reports(step)) {
            all.changes.push_back(change);
        }
    }
    return all;
}

}  // namespace jacobi
