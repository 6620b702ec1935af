// SPDX-License-Identifier: BSL-1.0
// What a rank has of the problem: its rows of the matrix and of the vectors, in strips, and all of
// p. Operations on a strip, from which both variants are made.
#pragma once

#include "../cg/kernels.hpp"
#include "matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace nas_cg {

class vectors {
public:
    vectors(const problem_class& c, std::size_t strips, const apps::mpi::place& at)
        : x(apps::mpi::share_of(c.n, at).count),
          z(x.size()),
          r(x.size()),
          q(x.size()),
          m_class(c),
          m_strips(std::min(strips, x.size())),
          m_at(at),
          m_parts(make_parts(c, at)),
          m_p(c.n) {}

    std::vector<double> x;
    std::vector<double> z;
    std::vector<double> r;
    std::vector<double> q;

    void reset() { std::fill(x.begin(), x.end(), 1.0); }

    const problem_class& kind() const { return m_class; }
    const apps::mpi::place& at() const { return m_at; }
    std::size_t strips() const { return m_strips; }
    /// Of a vector of this rank.
    std::span<double> strip(std::vector<double>& of, std::size_t i) const {
        const apps::mpi::share rows = rows_of(i);
        return std::span(of).subspan(rows.first, rows.count);
    }
    /// Of p, what a rank has.
    std::span<double> p_of(int rank) {
        const apps::mpi::share theirs = apps::mpi::share_of(m_class.n, {rank, m_at.ranks});
        return std::span(m_p).subspan(theirs.first, theirs.count);
    }
    std::span<double> p_strip(std::size_t i) {
        const apps::mpi::share rows = rows_of(i);
        return p_of(m_at.rank).subspan(rows.first, rows.count);
    }

    // Operations on strip i. What returns a number returns a part of a scalar product.

    /// z = 0, r = p = x; of r with itself.
    double begin(std::size_t i) {
        const std::span<double> from = strip(x, i);
        std::ranges::fill(strip(z, i), 0.0);
        std::ranges::copy(from, strip(r, i).begin());
        std::ranges::copy(from, p_strip(i).begin());
        return product(from, from);
    }
    /// q = A p, the columns of one rank after the other: `which` 0, 1 ... from this rank on.
    void multiply_by(std::size_t i, int which) {
        const int rank = (m_at.rank + which) % m_at.ranks;
        const apps::mpi::share rows = rows_of(i);
        multiply(m_parts[static_cast<std::size_t>(rank)], rows.first, rows.count, p_of(rank).data(),
                 &q[rows.first], which > 0);
    }
    double p_times_q(std::size_t i) { return product(p_strip(i), strip(q, i)); }
    /// z += alpha p, r -= alpha q; of r with itself.
    double advance(std::size_t i, double alpha) {
        return cg::advance(alpha, p_strip(i).data(), strip(q, i).data(), strip(z, i).data(),
                           strip(r, i).data(), strip(r, i).size());
    }
    /// p = r + beta p
    void turn(std::size_t i, double beta) {
        cg::turn(beta, strip(r, i).data(), p_strip(i).data(), strip(r, i).size());
    }
    /// p = z, to find the residual.
    void take_z(std::size_t i) { std::ranges::copy(strip(z, i), p_strip(i).begin()); }
    /// Of x - q with itself.
    double distance(std::size_t i) {
        const std::span<double> to = strip(q, i);
        double sum = 0;
        for (std::size_t k = 0; const double each : strip(x, i)) {
            sum += std::pow(each - to[k++], 2);
        }
        return sum;
    }
    double x_times_z(std::size_t i) { return product(strip(x, i), strip(z, i)); }
    double z_times_z(std::size_t i) { return product(strip(z, i), strip(z, i)); }
    /// x = z / |z|
    void normalise(std::size_t i, double z_squared) {
        const double by = 1 / std::sqrt(z_squared);
        for (std::size_t k = 0; double& each : strip(x, i)) {
            each = strip(z, i)[k++] * by;
        }
    }

private:
    apps::mpi::share rows_of(std::size_t i) const {
        return apps::mpi::share_of(x.size(), {static_cast<int>(i), static_cast<int>(m_strips)});
    }
    static double product(std::span<const double> a, std::span<const double> b) {
        return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    }

    problem_class m_class;
    std::size_t m_strips;
    apps::mpi::place m_at;
    std::vector<part> m_parts;
    std::vector<double> m_p;
};

/// What the power method found.
struct answer {
    double zeta = 0;
    double residual = 0;  ///< |x - A z| of the last iteration
};

}  // namespace nas_cg
