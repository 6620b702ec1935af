// SPDX-License-Identifier: BSL-1.0
// What a rank has of the system A x = b: rows of a square of points, in strips, and the vectors of
// the method. The true residual is found on rank 0 from all of x.
#pragma once

#include "../../common/element.hpp"
#include "../common/ranks.hpp"
#include "kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace cg {

class linear_system {
public:
    linear_system(std::size_t n, std::size_t strip, const apps::mpi::place& at)
        : m_n(n), m_strip(strip), m_at(at), m_rows(apps::mpi::share_of(n, at)) {
        const std::size_t mine = m_rows.count * n;
        b.resize(mine);
        for (std::size_t i = 0; i < mine; ++i) {
            b[i] = right_side(m_rows.first + i / n, i % n);
        }
        x.resize(mine);
        r.resize(mine);
        q.resize(mine);
        m_p.resize(mine + 2 * n);
    }

    /// x = 0, and r = p = b.
    void reset() {
        std::fill(x.begin(), x.end(), 0.0);
        std::fill(m_p.begin(), m_p.end(), 0.0);
        r = b;
        std::copy(b.begin(), b.end(), m_p.begin() + static_cast<std::ptrdiff_t>(m_n));
    }

    std::vector<double> b;
    std::vector<double> x;
    std::vector<double> r;
    std::vector<double> q;

    std::size_t n() const { return m_n; }
    const apps::mpi::place& at() const { return m_at; }

    std::size_t strips() const { return (m_rows.count + m_strip - 1) / m_strip; }
    std::size_t height(std::size_t i) const {
        return std::min(m_strip, m_rows.count - i * m_strip);
    }
    /// Numbers in a strip, and where it begins in each vector.
    std::size_t size(std::size_t i) const { return height(i) * m_n; }
    std::size_t begin(std::size_t i) const { return i * m_strip * m_n; }
    double* p(std::size_t i) { return m_p.data() + m_n + begin(i); }
    /// The rows of neighbours.
    double* above() { return m_p.data(); }
    double* below() { return m_p.data() + m_p.size() - m_n; }
    double* last_row() { return below() - m_n; }

    double multiply_strip(std::size_t i) { return multiply(p(i), &q[begin(i)], height(i), m_n); }
    double advance_strip(std::size_t i, double alpha) {
        const std::size_t at = begin(i);
        return advance(alpha, p(i), &q[at], &x[at], &r[at], size(i));
    }
    void turn_strip(std::size_t i, double beta) { turn(beta, &r[begin(i)], p(i), size(i)); }

    /// |b - A x| / |b|, by plain loops over all points on rank 0; told to all.
    double true_residual() const {
        std::vector<int> counts;
        std::vector<int> places;
        for (int rank = 0; m_at.is_first() && rank < m_at.ranks; ++rank) {
            const apps::mpi::share part = apps::mpi::share_of(m_n, {rank, m_at.ranks});
            counts.push_back(static_cast<int>(part.count * m_n));
            places.push_back(static_cast<int>(part.first * m_n));
        }
        std::vector<double> all(m_at.is_first() ? m_n * m_n : 0);
        MPI_Gatherv(x.data(), static_cast<int>(x.size()), MPI_DOUBLE, all.data(), counts.data(),
                    places.data(), MPI_DOUBLE, 0, MPI_COMM_WORLD);
        double difference = 0;
        double right = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::size_t c = i % m_n;
            const double neighbours = (i >= m_n ? all[i - m_n] : 0) +
                                      (i + m_n < all.size() ? all[i + m_n] : 0) +
                                      (c > 0 ? all[i - 1] : 0) + (c + 1 < m_n ? all[i + 1] : 0);
            const double wanted = right_side(i / m_n, c);
            difference += std::pow(wanted - (4 * all[i] - neighbours), 2);
            right += wanted * wanted;
        }
        double residual = all.empty() ? 0 : std::sqrt(difference / right);
        MPI_Bcast(&residual, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        return residual;
    }

private:
    static double right_side(std::size_t row, std::size_t column) {
        return apps::dense::element(row, column, 0);
    }

    std::size_t m_n;
    std::size_t m_strip;
    apps::mpi::place m_at;
    apps::mpi::share m_rows;
    std::vector<double> m_p;  ///< with a row more above and below
};

/// When to stop.
struct limits {
    double tolerance = 1e-8;  ///< of |r| / |b|
    std::size_t most = 10'000;

    bool is_reached(double rho, double rho_of_b, std::size_t iterations) const {
        return !(rho > tolerance * tolerance * rho_of_b) || iterations == most;
    }
};

}  // namespace cg
