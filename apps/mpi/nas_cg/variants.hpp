// SPDX-License-Identifier: BSL-1.0
// The power method with conjugate gradients, by plain calls and by tasks ordered by their data. The
// number of iterations is known, so the tasks are made ahead of what they compute.
#pragma once

#include "../common/messages.hpp"
#include "vectors.hpp"

#include <quern/dependences/domain.hpp>

#include <mpi.h>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace nas_cg {

using apps::mpi::message;
using quern::in;
using quern::inout;
using quern::out;

inline double sum_of_all(std::span<const double> parts) {
    double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/// The same in a task.
inline double sum_of_all(std::span<const double> parts, message& by) {
    return by.reduced(std::accumulate(parts.begin(), parts.end(), 0.0), MPI_SUM);
}

/// A step at a time.
class plain_calls {
public:
    explicit plain_calls(vectors& v) : m_v(v), m_parts(v.strips()) {
        for (int rank = 0; rank < v.at().ranks; ++rank) {
            m_counts.push_back(static_cast<int>(v.p_of(rank).size()));
            m_places.push_back(static_cast<int>(v.p_of(rank).data() - v.p_of(0).data()));
        }
    }

    answer run() {
        answer found;
        for (int outer = 0; outer < m_v.kind().outer; ++outer) {
            double rho = sum([&](std::size_t i) { return m_v.begin(i); });
            for (int inner = 0; inner < k_inner; ++inner) {
                multiply_all();
                const double d = sum([&](std::size_t i) { return m_v.p_times_q(i); });
                const double before = rho;
                rho = sum([&](std::size_t i) { return m_v.advance(i, before / d); });
                each([&](std::size_t i) { m_v.turn(i, rho / before); });
            }
            each([&](std::size_t i) { m_v.take_z(i); });
            multiply_all();
            found.residual = std::sqrt(sum([&](std::size_t i) { return m_v.distance(i); }));
            const double xz = sum([&](std::size_t i) { return m_v.x_times_z(i); });
            const double zz = sum([&](std::size_t i) { return m_v.z_times_z(i); });
            found.zeta = m_v.kind().shift + 1 / xz;
            each([&](std::size_t i) { m_v.normalise(i, zz); });
        }
        return found;
    }

private:
    template <class F>
    void each(const F& f) {
        for (std::size_t i = 0; i < m_v.strips(); ++i) {
            f(i);
        }
    }
    template <class F>
    double sum(const F& f) {
        each([&](std::size_t i) { m_parts[i] = f(i); });
        return sum_of_all(m_parts);
    }
    void multiply_all() {
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, m_v.p_of(0).data(), m_counts.data(),
                       m_places.data(), MPI_DOUBLE, MPI_COMM_WORLD);
        each([&](std::size_t i) {
            for (int which = 0; which < m_v.at().ranks; ++which) {
                m_v.multiply_by(i, which);
            }
        });
    }

    vectors& m_v;
    std::vector<double> m_parts;
    std::vector<int> m_counts;
    std::vector<int> m_places;
};

/// Each rank sends its part of p to each other one; a product with a part begins when that has
/// arrived. The sums have an order, in which all ranks call MPI_Allreduce.
class task_maker {
public:
    explicit task_maker(vectors& v) : m_v(v), m_parts(v.strips()), m_squares(v.strips()) {}

    answer run() {
        for (int outer = 0; outer < m_v.kind().outer; ++outer) {
            iterate();
        }
        m_work.taskwait();
        return {m_v.kind().shift + 1 / m_xz, std::sqrt(m_distance)};
    }

private:
    void iterate() {
        begin_all();
        for (int inner = 0; inner < k_inner; ++inner) {
            multiply_all();
            advance_all();
        }
        find_residual();
        for (std::size_t i = 0; i < m_v.strips(); ++i) {
            m_work.spawn({.name = "products"}, in(x(i)), in(z(i)), out(m_parts[i]),
                         out(m_squares[i]), [this, i] {
                             m_parts[i] = m_v.x_times_z(i);
                             m_squares[i] = m_v.z_times_z(i);
                         });
        }
        sum("x z", m_parts, m_xz);
        sum("z z", m_squares, m_zz);
        for (std::size_t i = 0; i < m_v.strips(); ++i) {
            m_work.spawn({.name = "normalise"}, in(m_zz), in(z(i)), out(x(i)),
                         [this, i] { m_v.normalise(i, m_zz); });
        }
    }

    void begin_all() {
        for (std::size_t i = 0; i < m_v.strips(); ++i) {
            m_work.spawn({.name = "begin"}, in(x(i)), out(z(i)), out(r(i)), out(p(i)),
                         out(m_squares[i]), [this, i] { m_squares[i] = m_v.begin(i); });
        }
        sum("rho", m_squares, m_rho);
    }

    /// Messages of a pair of ranks follow one another, for each is the last to read, or the next
    /// to write, what the one before has sent or received.
    void multiply_all() {
        const int ranks = m_v.at().ranks;
        for (int which = 1; which < ranks; ++which) {
            const std::span<double> mine = m_v.p_of(m_v.at().rank);
            const int to = (m_v.at().rank - which + ranks) % ranks;
            m_work.spawn({.name = "send", .rank = 1, .communication = true}, in(mine),
                         [mine, to, one = message()]() mutable {
                             one.send(mine.data(), static_cast<int>(mine.size()), to, 0);
                         });
            const int from = (m_v.at().rank + which) % ranks;
            const std::span<double> theirs = m_v.p_of(from);
            m_work.spawn({.name = "receive", .rank = 1, .communication = true}, out(theirs),
                         [theirs, from, one = message()]() mutable {
                             one.receive(theirs.data(), static_cast<int>(theirs.size()), from, 0);
                         });
        }
        for (int which = 0; which < ranks; ++which) {
            for (std::size_t i = 0; i < m_v.strips(); ++i) {
                m_work.spawn({.name = "multiply"}, in(m_v.p_of((m_v.at().rank + which) % ranks)),
                             inout(q(i)), [this, i, which] { m_v.multiply_by(i, which); });
            }
        }
    }

    void advance_all() {
        for (std::size_t i = 0; i < m_v.strips(); ++i) {
            m_work.spawn({.name = "p q"}, in(p(i)), in(q(i)), out(m_parts[i]),
                         [this, i] { m_parts[i] = m_v.p_times_q(i); });
        }
        m_work.spawn(
            {.name = "alpha", .rank = 1, .communication = true}, in(m_parts), in(m_rho),
            out(m_alpha), inout(quern::sentinel(m_work)),
            [this, one = message()]() mutable { m_alpha = m_rho / sum_of_all(m_parts, one); });
        for (std::size_t i = 0; i < m_v.strips(); ++i) {
            m_work.spawn({.name = "advance"}, in(m_alpha), in(p(i)), in(q(i)), inout(z(i)),
                         inout(r(i)), out(m_squares[i]),
                         [this, i] { m_squares[i] = m_v.advance(i, m_alpha); });
        }
        m_work.spawn({.name = "beta", .rank = 1, .communication = true}, in(m_squares),
                     inout(m_rho), out(m_beta), inout(quern::sentinel(m_work)),
                     [this, one = message()]() mutable {
                         const double before = m_rho;
                         m_rho = sum_of_all(m_squares, one);
                         m_beta = m_rho / before;
                     });
        for (std::size_t i = 0; i < m_v.strips(); ++i) {
            m_work.spawn({.name = "turn"}, in(m_beta), in(r(i)), inout(p(i)),
                         [this, i] { m_v.turn(i, m_beta); });
        }
    }

    void find_residual() {
        for (std::size_t i = 0; i < m_v.strips(); ++i) {
            m_work.spawn({.name = "take z"}, in(z(i)), out(p(i)), [this, i] { m_v.take_z(i); });
        }
        multiply_all();
        for (std::size_t i = 0; i < m_v.strips(); ++i) {
            m_work.spawn({.name = "distance"}, in(x(i)), in(q(i)), out(m_squares[i]),
                         [this, i] { m_squares[i] = m_v.distance(i); });
        }
        sum("distance", m_squares, m_distance);
    }

    void sum(const char* name, std::vector<double>& parts, double& to) {
        m_work.spawn({.name = name, .rank = 1, .communication = true}, in(parts), out(to),
                     inout(quern::sentinel(m_work)),
                     [&parts, &to, one = message()]() mutable { to = sum_of_all(parts, one); });
    }

    std::span<double> x(std::size_t i) { return m_v.strip(m_v.x, i); }
    std::span<double> z(std::size_t i) { return m_v.strip(m_v.z, i); }
    std::span<double> r(std::size_t i) { return m_v.strip(m_v.r, i); }
    std::span<double> q(std::size_t i) { return m_v.strip(m_v.q, i); }
    std::span<double> p(std::size_t i) { return m_v.p_strip(i); }

    vectors& m_v;
    std::vector<double> m_parts;
    std::vector<double> m_squares;
    double m_rho = 0;
    double m_alpha = 0;
    double m_beta = 0;
    double m_xz = 0;
    double m_zz = 0;
    double m_distance = 0;
    quern::domain m_work;
};

}  // namespace nas_cg
