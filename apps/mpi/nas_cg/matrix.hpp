// SPDX-License-Identifier: BSL-1.0
// The random sparse matrix of the NAS benchmark CG, and its classes. Source: Bailey et al., The NAS
// Parallel Benchmarks, RNR-94-007, 2.2.1 and 2.3; numbers and order of the random numbers as in
// NPB 3, so that its values of zeta hold.
#pragma once

#include "../common/ranks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace nas_cg {

struct problem_class {
    std::string_view name;
    std::size_t n;        ///< rows
    std::size_t nonzero;  ///< of a random vector
    int outer;            ///< iterations of the power method
    double shift;
    double zeta;  ///< the right answer
};
inline constexpr problem_class k_classes[] = {
    {"S", 1400, 7, 15, 10, 8.5971775078648},
    {"W", 7000, 8, 15, 12, 10.362595087124},
    {"A", 14000, 11, 15, 20, 17.130235054029},
};
inline constexpr int k_inner = 25;  ///< iterations of conjugate gradients in each outer one
inline constexpr double k_condition = 0.1;

/// x = a x mod 2^46, a = 5^13, as a fraction.
class random_numbers {
public:
    double next() {
        constexpr std::uint64_t k_mask = (std::uint64_t{1} << 46) - 1;
        m_state = m_state * 1220703125U & k_mask;
        return static_cast<double>(m_state) / static_cast<double>(k_mask + 1);
    }

private:
    std::uint64_t m_state = 314159265;
};

/// A vector by its nonzero numbers: places and values.
using sparse_vector = std::vector<std::pair<std::size_t, double>>;

/// `count` random numbers in places below n, and 0.5 in place `own`. `power`: of 2, at least n.
inline sparse_vector random_vector(random_numbers& from, const problem_class& c, std::size_t power,
                                   std::size_t own) {
    sparse_vector all;
    const auto has = [&all](std::size_t at) {
        return std::find_if(all.begin(), all.end(), [at](auto& e) { return e.first == at; });
    };
    while (all.size() < c.nonzero) {
        const double value = from.next();
        const auto at = static_cast<std::size_t>(static_cast<double>(power) * from.next());
        if (at < c.n && has(at) == all.end()) {
            all.emplace_back(at, value);
        }
    }
    if (const auto found = has(own); found != all.end()) {
        found->second = 0.5;
    } else {
        all.emplace_back(own, 0.5);
    }
    return all;
}

/// Some rows and columns of the matrix, by rows; columns are counted from the first one of the
/// part.
struct part {
    std::vector<std::size_t> begins{0};  ///< of each row, and behind the last one
    std::vector<int> columns;
    std::vector<double> values;
};

/// The rows of this rank, in a part for the columns of each rank. The matrix is a sum of outer
/// products of random vectors, whose weights fall from 1 to k_condition, with k_condition - shift
/// on the diagonal.
inline std::vector<part> make_parts(const problem_class& c, const apps::mpi::place& at) {
    const apps::mpi::share mine = apps::mpi::share_of(c.n, at);
    std::vector<std::map<std::size_t, double>> rows(mine.count);
    random_numbers numbers;
    numbers.next();  // the program takes one before
    std::size_t power = 1;
    while (power < c.n) {
        power *= 2;
    }
    const double ratio = std::pow(k_condition, 1 / static_cast<double>(c.n));
    double weight = 1;
    for (std::size_t i = 0; i < c.n; ++i, weight *= ratio) {
        const sparse_vector v = random_vector(numbers, c, power, i);
        for (const auto& [row, first] : v) {
            if (row < mine.first || row >= mine.first + mine.count) {
                continue;
            }
            for (const auto& [column, second] : v) {
                const double diagonal = row == i && column == i ? k_condition - c.shift : 0;
                rows[row - mine.first][column] += second * (weight * first) + diagonal;
            }
        }
    }
    std::vector<part> parts;
    for (int rank = 0; rank < at.ranks; ++rank) {
        const apps::mpi::share theirs = apps::mpi::share_of(c.n, {rank, at.ranks});
        part& one = parts.emplace_back();
        for (const auto& row : rows) {
            const auto end = row.lower_bound(theirs.first + theirs.count);
            for (auto e = row.lower_bound(theirs.first); e != end; ++e) {
                one.columns.push_back(static_cast<int>(e->first - theirs.first));
                one.values.push_back(e->second);
            }
            one.begins.push_back(one.values.size());
        }
    }
    return parts;
}

/// q = A p for some rows of a part, or q += A p.
inline void multiply(const part& a, std::size_t first, std::size_t count, const double* p,
                     double* q, bool adds) {
    for (std::size_t r = 0; r < count; ++r) {
        double sum = adds ? q[r] : 0;
        for (std::size_t i = a.begins[first + r]; i < a.begins[first + r + 1]; ++i) {
            sum += a.values[i] * p[a.columns[i]];
        }
        q[r] = sum;
    }
}

}  // namespace nas_cg
