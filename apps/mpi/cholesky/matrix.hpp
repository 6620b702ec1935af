// SPDX-License-Identifier: BSL-1.0
// The tiles of A = L L' that a rank has, in the order in which a grid of ranks deals them out; who
// needs which tile of L; the operations on tiles; and the residual.
#pragma once

#include "../../common/dense.hpp"
#include "../common/rank_grid.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

namespace cholesky {

using apps::mpi::rank_grid;
using tile_numbers = std::vector<double>;

class matrix {
public:
    matrix(std::size_t n, std::size_t side, const rank_grid& grid)
        : m_n(n), m_side(side), m_grid(grid), m_tiles(count() * count()) {
        for_each_of_mine(
            [this](std::size_t i, std::size_t j) { tile(i, j).resize(rows(i) * rows(j)); });
    }

    void reset() {
        for_each_of_mine([this](std::size_t i, std::size_t j) {
            for (std::size_t c = 0; c < rows(j); ++c) {
                for (std::size_t r = 0; r < rows(i); ++r) {
                    tile(i, j)[c * rows(i) + r] = element(i * m_side + r, j * m_side + c);
                }
            }
        });
    }

    const rank_grid& grid() const { return m_grid; }
    /// In each direction.
    std::size_t count() const { return (m_n + m_side - 1) / m_side; }
    std::size_t rows(std::size_t i) const { return std::min(m_side, m_n - i * m_side); }
    /// Of the largest tile.
    std::size_t tile_size() const { return rows(0) * rows(0); }
    int size_of(std::size_t i, std::size_t j) const { return static_cast<int>(rows(i) * rows(j)); }
    bool is_mine(std::size_t i, std::size_t j) const { return m_grid.is_mine(i, j); }
    tile_numbers& tile(std::size_t i, std::size_t j) { return m_tiles[j * count() + i]; }
    /// Distinct for each tile.
    int tag(std::size_t i, std::size_t j) const { return static_cast<int>(i * count() + j); }

    /// The ranks, without the owner, that multiply with tile (i, k) of L, i > k: those of the tiles
    /// right of it up to the diagonal, and of those below that.
    std::set<int> readers(std::size_t i, std::size_t k) const {
        std::set<int> all;
        for (std::size_t j = k + 1; j <= i && j <= k + static_cast<std::size_t>(m_grid.columns());
             ++j) {
            all.insert(m_grid.owner(i, j));
        }
        for (std::size_t r = i; r < count() && r < i + static_cast<std::size_t>(m_grid.rows());
             ++r) {
            all.insert(m_grid.owner(r, i));
        }
        all.erase(m_grid.owner(i, k));
        return all;
    }
    /// Those that need the diagonal tile k, for the tiles below it.
    std::set<int> readers_of_diagonal(std::size_t k) const {
        std::set<int> all;
        for (std::size_t i = k + 1; i < count(); ++i) {
            all.insert(m_grid.owner(i, k));
        }
        all.erase(m_grid.owner(k, k));
        return all;
    }

    // The operations, each on tiles of this rank.

    /// Tile (k, k) = its factor; `inverse`: of it, with which the tiles below are multiplied.
    void potrf(std::size_t k, double* inverse) {
        const blas::matrix a = in_blas(tile(k, k).data(), k, k);
        if (const int minor = blas::potrf(a); minor != 0) {
            fmt::print(stderr, "cholesky: the leading minor of order {} is not positive\n",
                       k * m_side + static_cast<std::size_t>(minor));
            MPI_Abort(MPI_COMM_WORLD, apps::k_wrong_answer);  // others wait for the tile
        }
        std::copy(tile(k, k).begin(), tile(k, k).end(), inverse);
        blas::invert_lower(in_blas(inverse, k, k));
    }
    void trsm(std::size_t i, std::size_t k, const double* inverse) {
        blas::trmm_right(in_blas(inverse, k, k), in_blas(tile(i, k).data(), i, k));
    }
    /// Tile (i, j) -= tile (i, k) times the transposed tile (j, k), of which the numbers are given.
    void update(std::size_t i, std::size_t j, std::size_t k, const double* ik, const double* jk) {
        const blas::matrix to = in_blas(tile(i, j).data(), i, j);
        if (i == j) {
            blas::syrk(in_blas(ik, i, k), to);
        } else {
            blas::gemm('N', 'T', -1, in_blas(ik, i, k), in_blas(jk, j, k), 1, to);
        }
    }

    /// |L L' x - A x| / (|A| |x| n eps) for two vectors x, by all ranks.
    double residual() {
        apps::dense::columns x(m_n, 2);
        for (std::size_t i = 0; i < 2 * m_n; ++i) {
            x.data()[i] = 2 * apps::dense::element(i % m_n, m_n + i / m_n, 0);
        }
        apps::dense::columns sums(m_n, 1);
        apps::dense::columns ax =
            product(x, [&](auto i, auto j, std::size_t r, std::size_t c, auto& y) {
                const double a = element(i * m_side + r, j * m_side + c);
                add(y, x, i * m_side + r, j * m_side + c, a, i != j || r != c);
                sums(j * m_side + c, 0) += std::abs(a);
                sums(i * m_side + r, 0) += i != j || r != c ? std::abs(a) : 0;
            });
        const apps::dense::columns upper =
            product(x, [&](auto i, auto j, std::size_t r, std::size_t c, auto& y) {
                add(y, x, j * m_side + c, i * m_side + r, at(i, j, r, c), false);
            });
        apps::dense::columns difference =
            product(upper, [&](auto i, auto j, std::size_t r, std::size_t c, auto& y) {
                add(y, upper, i * m_side + r, j * m_side + c, at(i, j, r, c), false);
            });
        for (std::size_t i = 0; i < 2 * m_n; ++i) {
            difference.data()[i] -= ax.data()[i];
        }
        MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(m_n), MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
        double norm = 0;
        for (std::size_t i = 0; i < m_n; ++i) {
            norm = std::max(norm, sums(i, 0));
        }
        return apps::dense::scaled(difference, norm, x);
    }

private:
    blas::matrix in_blas(const double* at, std::size_t i, std::size_t j) const {
        return {const_cast<double*>(at), static_cast<int>(rows(i)), static_cast<int>(rows(j)),
                static_cast<int>(rows(i))};
    }
    /// Symmetric; the diagonal dominates.
    double element(std::size_t r, std::size_t c) const {
        return apps::dense::element(std::max(r, c), std::min(r, c), static_cast<double>(m_n));
    }
    double at(std::size_t i, std::size_t j, std::size_t r, std::size_t c) {
        return tile(i, j)[c * rows(i) + r];
    }

    template <class F>
    void for_each_of_mine(const F& f) {
        for (std::size_t j = 0; j < count(); ++j) {
            for (std::size_t i = j; i < count(); ++i) {
                if (is_mine(i, j)) {
                    f(i, j);
                }
            }
        }
    }

    /// y += a x for one element a in row r and column c, and for that above the diagonal as well.
    static void add(apps::dense::columns& y, const apps::dense::columns& x, std::size_t r,
                    std::size_t c, double a, bool is_mirrored) {
        for (std::size_t v = 0; v < y.width(); ++v) {
            y(r, v) += a * x(c, v);
            y(c, v) += is_mirrored ? a * x(r, v) : 0;
        }
    }

    /// The sum over all ranks of what f(i, j, r, c, y) adds to y for each element on and below the
    /// diagonal.
    template <class F>
    apps::dense::columns product(const apps::dense::columns& x, const F& f) {
        apps::dense::columns y(x.rows(), x.width());
        for_each_of_mine([&](std::size_t i, std::size_t j) {
            for (std::size_t c = 0; c < rows(j); ++c) {
                for (std::size_t r = i == j ? c : 0; r < rows(i); ++r) {
                    f(i, j, r, c, y);
                }
            }
        });
        MPI_Allreduce(MPI_IN_PLACE, y.data(), static_cast<int>(x.rows() * x.width()), MPI_DOUBLE,
                      MPI_SUM, MPI_COMM_WORLD);
        return y;
    }

    std::size_t m_n;
    std::size_t m_side;
    rank_grid m_grid;
    std::vector<tile_numbers> m_tiles;  ///< by columns of tiles; empty if of another rank
};

}  // namespace cholesky
