// SPDX-License-Identifier: BSL-1.0
// What a rank has of A x = b: each of its panels of columns whole, dealt out to the ranks in turns;
// b is the panel after the last one. The steps on panels, back substitution, and the residual as
// HPL defines it.
#pragma once

#include "../../common/dense.hpp"
#include "../../lu/panels.hpp"
#include "../common/ranks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace hpl {

using apps::mpi::place;

class panels {
public:
    panels(std::size_t n, std::size_t width, const place& at)
        : m_n(n), m_width(width), m_at(at), m_numbers(count() + 1) {
        for (std::size_t j = 0; j <= count(); ++j) {
            if (is_mine(j)) {
                m_numbers[j].resize(n * columns(j));
            }
        }
    }

    void reset() {
        for (std::size_t j = 0; j <= count(); ++j) {
            for (std::size_t i = 0; i < m_numbers[j].size(); ++i) {
                m_numbers[j][i] = apps::dense::element(i % m_n, first(j) + i / m_n, 0);
            }
        }
    }

    const place& at() const { return m_at; }
    std::size_t n() const { return m_n; }
    /// Of A; the panel of that number is b.
    std::size_t count() const { return (m_n + m_width - 1) / m_width; }
    std::size_t first(std::size_t j) const { return std::min(j * m_width, m_n); }
    std::size_t columns(std::size_t j) const {
        return j < count() ? std::min(m_width, m_n - first(j)) : 1;
    }
    int owner(std::size_t j) const {
        return static_cast<int>(j % static_cast<std::size_t>(m_at.ranks));
    }
    bool is_mine(std::size_t j) const { return owner(j) == m_at.rank; }
    std::vector<double>& numbers(std::size_t j) { return m_numbers[j]; }

    /// Numbers of what the other ranks need of a factorised panel: pivots, and the part from the
    /// diagonal on.
    std::size_t message_size(std::size_t k) const { return columns(k) * (1 + m_n - first(k)); }
    std::size_t largest_message() const { return message_size(0); }

    /// Panel k = its factors; `message`: as all need it.
    void factorise(std::size_t k, std::span<double> message) {
        const blas::matrix panel = below(k, k);
        std::vector<int> pivots(columns(k));
        if (const int column = blas::getrf(panel, pivots.data()); column != 0) {
            fmt::print(stderr, "hpl: the matrix is singular: column {} has no pivot\n",
                       first(k) + static_cast<std::size_t>(column));
            MPI_Abort(MPI_COMM_WORLD, apps::k_wrong_answer);  // others wait for the panel
        }
        const auto after = std::copy(pivots.begin(), pivots.end(), message.begin());
        for (int c = 0; c < panel.columns; ++c) {
            std::copy_n(&panel(0, c), panel.rows, after + std::ptrdiff_t{c} * panel.rows);
        }
    }

    /// Exchanges rows of panel j, computes its part of U, and subtracts the product from the rest.
    void update(std::size_t k, std::span<const double> message, std::size_t j) {
        std::vector<int> pivots;
        for (const double each : message.first(columns(k))) {
            pivots.push_back(static_cast<int>(each));
        }
        const int rows = static_cast<int>(m_n - first(k));
        const blas::matrix factors{const_cast<double*>(&message[columns(k)]), rows,
                                   static_cast<int>(columns(k)), rows};  // read only
        lu::update(factors, pivots, below(k, j));
    }

    /// The solution x, on all ranks. From the last panel to the first, each owner finds its part
    /// and subtracts what it adds to the rows above, which then go to the next owner.
    std::vector<double> solve() {
        std::vector<double> x(m_n);
        std::vector<double> y = m_numbers[count()];
        y.resize(m_n);
        for (std::size_t j = count(); j-- > 0;) {
            const int from = owner(j + 1);
            const int to = owner(j);
            const int rows = static_cast<int>(first(j + 1));
            if (from != to && m_at.rank == from) {
                MPI_Send(y.data(), rows, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
            }
            if (m_at.rank != to) {
                continue;
            }
            if (from != to) {
                MPI_Recv(y.data(), rows, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            }
            const int above = static_cast<int>(first(j));
            const int width = static_cast<int>(columns(j));
            const blas::matrix whole = all_of(j);
            const blas::matrix part{&y[first(j)], width, 1, rows};
            blas::trsm_upper(whole.from(above, 0, width, width), part);
            std::copy_n(part.at, width, &x[first(j)]);
            if (above > 0) {
                blas::gemm('N', 'N', -1, whole.from(0, 0, above, width), part, 1,
                           {y.data(), above, 1, rows});
            }
        }
        MPI_Allreduce(MPI_IN_PLACE, x.data(), static_cast<int>(m_n), MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
        return x;
    }

    /// |A x - b| / (eps (|A| |x| + |b|) n), in largest numbers and sums of rows, from new numbers.
    double residual(const std::vector<double>& x) const {
        std::vector<double> sums(2 * m_n);  // of A x - b, and of |A|
        double largest_b = 0;
        for (std::size_t j = 0; j <= count(); ++j) {
            for (std::size_t c = first(j); is_mine(j) && c < first(j) + columns(j); ++c) {
                for (std::size_t r = 0; r < m_n; ++r) {
                    const double a = apps::dense::element(r, c, 0);
                    sums[r] += j < count() ? a * x[c] : -a;
                    sums[m_n + r] += j < count() ? std::abs(a) : 0;
                    largest_b = j < count() ? 0 : std::max(largest_b, std::abs(a));
                }
            }
        }
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
    blas::matrix all_of(std::size_t j) {
        const int n = static_cast<int>(m_n);
        return {m_numbers[j].data(), n, static_cast<int>(columns(j)), n};
    }
    /// Of panel j, the rows from those of the diagonal in panel k.
    blas::matrix below(std::size_t k, std::size_t j) {
        const blas::matrix whole = all_of(j);
        const int above = static_cast<int>(first(k));
        return whole.from(above, 0, whole.rows - above, whole.columns);
    }

    std::size_t m_n;
    std::size_t m_width;
    place m_at;
    std::vector<std::vector<double>> m_numbers;
};

}  // namespace hpl
