// SPDX-License-Identifier: BSL-1.0
// gauss_seidel: 20 sweeps over the points of a square, with the kernel of apps/gauss_seidel. Size:
// the points along a side. Value: million points a second with the best of several sizes of blocks.
#pragma once

#include "../../apps/gauss_seidel/grid.hpp"
#include "../harness/grains.hpp"
#include "../harness/harness.hpp"

#include <cstddef>
#include <vector>

namespace bench::gauss_seidel {

using ::gauss_seidel::grid;

inline constexpr std::size_t k_sides[] = {16, 32, 64, 128, 256};  // of a block
inline constexpr int k_sweeps = 20;

class answer {
public:
    explicit answer(const arguments& a)
        : m_n(static_cast<std::size_t>(a.size)),
          m_by_rows(::gauss_seidel::swept_by_rows(m_n, k_sweeps)) {}

    /// how(grid, sweeps) sweeps.
    template <class How>
    measurement measured(const How& how) const {
        return best_of(k_sides, [&](std::size_t side) {
            grid g(m_n, side);
            const double start = now();
            how(g, k_sweeps);
            const double seconds = now() - start;
            if (!g.equals(m_by_rows)) {
                throw wrong_answer("the points differ from those of sweeps by rows");
            }
            return static_cast<double>(m_n) * static_cast<double>(m_n) * k_sweeps / seconds / 1e6;
        });
    }

private:
    std::size_t m_n;
    std::vector<double> m_by_rows;
};

}  // namespace bench::gauss_seidel
