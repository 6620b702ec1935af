// SPDX-License-Identifier: BSL-1.0
// stream: the kernels of STREAM ten times, one after the other, over blocks, with those of
// apps/stream. Size: the numbers in each of the three arrays. Value: GB/s as STREAM counts, with
// the best of several sizes of blocks.
#pragma once

#include "../../apps/stream/arrays.hpp"
#include "../harness/grains.hpp"
#include "../harness/harness.hpp"

#include <cstddef>

namespace bench::stream {

using ::stream::arrays;

inline constexpr std::size_t k_sides[] = {2'000, 5'000, 10'000, 50'000, 200'000};  // numbers
inline constexpr int k_iterations = 10;

class data {
public:
    explicit data(const arguments& a) : m_x(static_cast<std::size_t>(a.size)) {}

    /// how(arrays, numbers in a block, iterations) runs the kernels.
    template <class How>
    measurement measured(const How& how) {
        return best_of(k_sides, [&](std::size_t side) { return rate(side, how); });
    }

    template <class How>
    double rate(std::size_t side, const How& how) {
        m_x.reset();
        const double start = now();
        how(m_x, side, k_iterations);
        const double seconds = now() - start;
        if (m_x.first_wrong(k_iterations) < m_x.size()) {
            throw wrong_answer("the numbers differ from those of a serial computation");
        }
        constexpr double k_moved = 2 + 2 + 3 + 3;  // numbers, by the four kernels
        return k_moved * sizeof(double) * static_cast<double>(m_x.size()) * k_iterations / seconds /
               1e9;
    }

private:
    arrays m_x;
};

}  // namespace bench::stream
