// SPDX-License-Identifier: BSL-1.0
// The iterations of conjugate gradients (Hestenes and Stiefel 1952), by plain calls, by parallel
// loops between calls, and by tasks ordered by their data. Each returns the number of iterations.
#pragma once

#include "../common/messages.hpp"
#include "system.hpp"

#include <quern/algorithms/parallel_for.hpp>
#include <quern/dependences/domain.hpp>

#include <mpi.h>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace cg {

using apps::mpi::message;

/// Of the parts of all strips of all ranks.
inline double sum_of_all(std::span<const double> parts) {
    double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}
/// The same in a task.
inline double sum_of_all(std::span<const double> parts, message& by) {
    return by.reduced(std::accumulate(parts.begin(), parts.end(), 0.0), MPI_SUM);
}

/// |b|^2. Part by part, as the other sums.
inline double begin_all(linear_system& s, std::vector<double>& parts) {
    for (std::size_t i = 0; i < s.strips(); ++i) {
        const std::span<const double> b = std::span(s.b).subspan(s.begin(i), s.size(i));
        parts[i] = std::inner_product(b.begin(), b.end(), b.begin(), 0.0);
    }
    return sum_of_all(parts);
}

inline void exchange(linear_system& s) {
    const int n = static_cast<int>(s.n());
    MPI_Sendrecv(s.p(0), n, MPI_DOUBLE, s.at().before(), 0, s.below(), n, MPI_DOUBLE,
                 s.at().after(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(s.last_row(), n, MPI_DOUBLE, s.at().after(), 0, s.above(), n, MPI_DOUBLE,
                 s.at().before(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// for_each_strip(f) is over when f(i) has been called for each strip.
template <class ForEachStrip>
std::size_t by_steps(linear_system& s, const limits& until, const ForEachStrip& for_each_strip) {
    std::vector<double> parts(s.strips());
    const double rho_of_b = begin_all(s, parts);
    double rho = rho_of_b;
    std::size_t iterations = 0;
    for (; !until.is_reached(rho, rho_of_b, iterations); ++iterations) {
        exchange(s);
        for_each_strip([&](std::size_t i) { parts[i] = s.multiply_strip(i); });
        const double alpha = rho / sum_of_all(parts);
        for_each_strip([&](std::size_t i) { parts[i] = s.advance_strip(i, alpha); });
        const double before = rho;
        rho = sum_of_all(parts);
        for_each_strip([&](std::size_t i) { s.turn_strip(i, rho / before); });
    }
    return iterations;
}

inline std::size_t by_plain_calls(linear_system& s, const limits& until) {
    return by_steps(s, until, [&s](const auto& f) {
        for (std::size_t i = 0; i < s.strips(); ++i) {
            f(i);
        }
    });
}

/// Parallel loops over the strips; the calling thread exchanges and sums up.
inline std::size_t by_fork_join(linear_system& s, const limits& until) {
    return by_steps(s, until, [&s](const auto& f) {
        quern::parallel_for(std::size_t{0}, s.strips(), quern::grain::fixed(1), f);
    });
}

/// The messages of so many iterations alone.
inline void by_messages_alone(linear_system& s, std::size_t iterations) {
    std::vector<double> parts(s.strips());
    for (std::size_t i = 0; i < iterations; ++i) {
        exchange(s);
        sum_of_all(parts);
        sum_of_all(parts);
    }
}

/// The tasks of an iteration. Only the first and the last strip wait for the rows of neighbours.
/// The sums follow one another by their data, so all ranks call MPI_Allreduce in one order.
class task_maker {
public:
    explicit task_maker(linear_system& s) : m_s(s), m_products(s.strips()), m_squares(s.strips()) {}

    std::size_t run(const limits& until) {
        const double rho_of_b = begin_all(m_s, m_squares);
        m_rho = rho_of_b;
        exchange_rows();
        std::size_t iterations = 0;
        while (!until.is_reached(m_rho, rho_of_b, iterations)) {
            multiply_all();
            advance_all();
            turn_all();
            exchange_rows();
            ++iterations;
            m_work.taskwait(quern::on(quern::in(m_rho)));
        }
        m_work.taskwait();
        return iterations;
    }

private:
    std::ptrdiff_t size(std::size_t i) const { return static_cast<std::ptrdiff_t>(m_s.size(i)); }
    std::ptrdiff_t row() const { return static_cast<std::ptrdiff_t>(m_s.n()); }
    auto p_of(std::size_t i) { return quern::in(m_s.p(i), size(i)); }

    void multiply_all() {
        using quern::in;
        using quern::out;
        const std::size_t strips = m_s.strips();
        for (std::size_t i = 0; i < strips; ++i) {
            m_work.spawn({.name = "multiply"}, p_of(i),
                         i > 0 ? p_of(i - 1) : in(m_s.above(), row()),
                         i + 1 < strips ? p_of(i + 1) : in(m_s.below(), row()),
                         out(&m_s.q[m_s.begin(i)], size(i)), out(m_products[i]),
                         [this, i] { m_products[i] = m_s.multiply_strip(i); });
        }
        m_work.spawn({.name = "alpha", .rank = 1, .communication = true}, in(m_products), in(m_rho),
                     out(m_alpha),
                     [one = message()](auto parts, const double& rho, double& alpha) mutable {
                         alpha = rho / sum_of_all(parts, one);
                     });
    }

    void advance_all() {
        using quern::in;
        using quern::inout;
        for (std::size_t i = 0; i < m_s.strips(); ++i) {
            const std::size_t at = m_s.begin(i);
            m_work.spawn({.name = "advance"}, in(m_alpha), p_of(i), in(&m_s.q[at], size(i)),
                         inout(&m_s.x[at], size(i)), inout(&m_s.r[at], size(i)),
                         quern::out(m_squares[i]),
                         [this, i] { m_squares[i] = m_s.advance_strip(i, m_alpha); });
        }
        m_work.spawn({.name = "beta", .rank = 1, .communication = true}, in(m_squares),
                     inout(m_rho), quern::out(m_beta),
                     [one = message()](auto parts, double& rho, double& beta) mutable {
                         const double before = rho;
                         rho = sum_of_all(parts, one);
                         beta = rho / before;
                     });
    }

    void turn_all() {
        for (std::size_t i = 0; i < m_s.strips(); ++i) {
            const bool is_sent = i == 0 || i + 1 == m_s.strips();
            m_work.spawn({.name = "turn", .rank = static_cast<std::int16_t>(is_sent)},
                         quern::in(m_beta), quern::in(&m_s.r[m_s.begin(i)], size(i)),
                         quern::inout(m_s.p(i), size(i)), [this, i] { m_s.turn_strip(i, m_beta); });
        }
    }

    void exchange_rows() {
        exchange_row(m_s.at().before(), 0, m_s.p(0), m_s.above());
        exchange_row(m_s.at().after(), m_s.strips() - 1, m_s.last_row(), m_s.below());
    }

    void exchange_row(int peer, std::size_t strip, double* from, double* to) {
        if (peer == MPI_PROC_NULL) {
            return;
        }
        const int n = static_cast<int>(m_s.n());
        m_work.spawn({.name = "send", .rank = 2, .communication = true}, p_of(strip),
                     [=, one = message()]() mutable { one.send(from, n, peer, 0); });
        m_work.spawn({.name = "receive", .rank = 2, .communication = true}, quern::out(to, row()),
                     [=, one = message()]() mutable { one.receive(to, n, peer, 0); });
    }

    linear_system& m_s;
    std::vector<double> m_products;
    std::vector<double> m_squares;
    double m_rho = 0;
    double m_alpha = 0;
    double m_beta = 0;
    quern::domain m_work;
};

inline std::size_t by_tasks(linear_system& s, const limits& until) {
    return task_maker(s).run(until);
}

}  // namespace cg
