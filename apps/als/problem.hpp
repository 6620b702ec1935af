// SPDX-License-Identifier: BSL-1.0
// A factorisation of a table of ratings by alternating least squares, for implicit feedback (Hu,
// Koren and Volinsky, ICDM 2008), and its primitives: functions of small dense arrays, which
// tasks.hpp launches. Data depend only on the seed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace als {

using numbers = std::vector<double>;

/// Dense, by rows.
struct matrix {
    matrix(std::size_t r, std::size_t c) : rows(r), columns(c), all(r * c) {}

    std::span<double> row(std::size_t r) { return {&all[r * columns], columns}; }
    std::span<const double> row(std::size_t r) const { return {&all[r * columns], columns}; }

    std::size_t rows;
    std::size_t columns;
    numbers all;
};

/// Defaults of alpha, factors and regularization: those of Phylanx's example `als`.
struct parameters {
    std::size_t users = 400;
    std::size_t items = 400;
    std::size_t factors = 3;
    std::size_t sweeps = 10;
    double alpha = 40;  ///< confidence in a rating of 1
    double regularization = 0.1;
    std::uint64_t seed = 1;
};

/// What is sought: the product of a row of each predicts whether the user rates the item.
struct factors {
    matrix users;
    matrix items;
};

/// One half of a sweep: the rows of `sought` that minimise the objective while `given` is fixed.
struct half_sweep {
    const matrix& confidence;  ///< a row for each row of `sought`, a column for each of `given`
    const matrix& given;
    matrix& sought;
    double regularization;
};

/// Ratings and the factors to begin with.
class problem {
public:
    explicit problem(const parameters& p)
        : m_p(p),
          m_of_users(p.users, p.items),
          m_of_items(p.items, p.users),
          m_start{matrix(p.users, p.factors), matrix(p.items, p.factors)} {
        std::mt19937_64 random(p.seed);
        const auto fraction = [&random] { return static_cast<double>(random() >> 11) * 0x1p-53; };
        constexpr double k_rated = 0.25;  // share of all; in Phylanx's example 12 of 50
        for (std::size_t u = 0; u < p.users; ++u) {
            for (std::size_t i = 0; i < p.items; ++i) {
                const double rating = fraction() < k_rated ? std::ceil(5 * fraction()) : 0;
                m_of_users.row(u)[i] = p.alpha * rating;
                m_of_items.row(i)[u] = p.alpha * rating;
            }
        }
        std::generate(m_start.users.all.begin(), m_start.users.all.end(), fraction);
        std::generate(m_start.items.all.begin(), m_start.items.all.end(), fraction);
    }

    const parameters& given() const noexcept { return m_p; }
    const factors& start() const noexcept { return m_start; }

    half_sweep over_users(factors& f) const noexcept {
        return {m_of_users, f.items, f.users, m_p.regularization};
    }
    half_sweep over_items(factors& f) const noexcept {
        return {m_of_items, f.users, f.items, m_p.regularization};
    }

    /// Sum of (1 + confidence) (preference - prediction)^2, and the regularization.
    double objective(const factors& f) const {
        double sum = 0;
        for (const matrix* each : {&f.users, &f.items}) {
            for (const double x : each->all) {
                sum += m_p.regularization * x * x;
            }
        }
        for (std::size_t u = 0; u < m_p.users; ++u) {
            for (std::size_t i = 0; i < m_p.items; ++i) {
                const double c = m_of_users.row(u)[i];
                double error = c != 0 ? 1 : 0;
                for (std::size_t k = 0; k < m_p.factors; ++k) {
                    error -= f.users.row(u)[k] * f.items.row(i)[k];
                }
                sum += (1 + c) * error * error;
            }
        }
        return sum;
    }

private:
    parameters m_p;
    matrix m_of_users;
    matrix m_of_items;
    factors m_start;
};

// The primitives of a row. Square matrices of k x k numbers are lower triangles. Not inlined, so
// that the serial solution and the tasks run the same machine code.

/// a += weight v vT
inline void add_rank_1(numbers& a, double weight, std::span<const double> v) {
    const std::size_t k = v.size();
    for (std::size_t i = 0; i < k; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            a[i * k + j] += weight * v[i] * v[j];
        }
    }
}

/// YT Y + regularization I
[[gnu::noinline]] inline numbers gram(const half_sweep& h) {
    const std::size_t k = h.given.columns;
    numbers a(k * k);
    for (std::size_t r = 0; r < h.given.rows; ++r) {
        add_rank_1(a, 1, h.given.row(r));
    }
    for (std::size_t i = 0; i < k; ++i) {
        a[i * k + i] += h.regularization;
    }
    return a;
}

[[gnu::noinline]] inline numbers slice(const half_sweep& h, std::size_t row) {
    const auto r = h.confidence.row(row);
    return {r.begin(), r.end()};
}

/// 1 where there is a rating
[[gnu::noinline]] inline numbers preference(const numbers& confidence) {
    numbers p(confidence.size());
    std::transform(confidence.begin(), confidence.end(), p.begin(),
                   [](double c) { return c != 0 ? 1.0 : 0.0; });
    return p;
}

/// gram + YT C Y
[[gnu::noinline]] inline numbers weighted_gram(const half_sweep& h, const numbers& gram,
                                               const numbers& confidence) {
    numbers a = gram;
    for (std::size_t r = 0; r < confidence.size(); ++r) {
        add_rank_1(a, confidence[r], h.given.row(r));
    }
    return a;
}

/// YT (C + I) p
[[gnu::noinline]] inline numbers weighted_sum(const half_sweep& h, const numbers& confidence,
                                              const numbers& p) {
    numbers b(h.given.columns);
    for (std::size_t r = 0; r < p.size(); ++r) {
        const double weight = (confidence[r] + 1) * p[r];
        for (std::size_t k = 0; k < b.size(); ++k) {
            b[k] += weight * h.given.row(r)[k];
        }
    }
    return b;
}

/// x of a x = b, by Cholesky's decomposition. Requires: a positive definite.
[[gnu::noinline]] inline numbers solve(numbers a, numbers b) {
    const std::size_t k = b.size();
    for (std::size_t i = 0; i < k; ++i) {  // a = L LT, and b = L^-1 b
        for (std::size_t j = 0; j <= i; ++j) {
            double sum = a[i * k + j];
            for (std::size_t m = 0; m < j; ++m) {
                sum -= a[i * k + m] * a[j * k + m];
            }
            a[i * k + j] = i == j ? std::sqrt(sum) : sum / a[j * k + j];
        }
        for (std::size_t m = 0; m < i; ++m) {
            b[i] -= a[i * k + m] * b[m];
        }
        b[i] /= a[i * k + i];
    }
    for (std::size_t i = k; i-- > 0;) {  // b = LT^-1 b
        for (std::size_t m = i + 1; m < k; ++m) {
            b[i] -= a[m * k + i] * b[m];
        }
        b[i] /= a[i * k + i];
    }
    return b;
}

[[gnu::noinline]] inline void store(const half_sweep& h, std::size_t row, const numbers& x) {
    std::copy(x.begin(), x.end(), h.sought.row(row).begin());
}

}  // namespace als
