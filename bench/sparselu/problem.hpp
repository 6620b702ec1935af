// SPDX-License-Identifier: BSL-1.0
// sparselu: LU factorisation of a sparse matrix of blocks, after BOTS, with the kernels of
// apps/sparselu. Size: the rows. Value: GFLOP/s with the best of several sizes of blocks; smaller
// blocks are more and shorter tasks. A block has other numbers with each size, so rates are
// compared and not times.
#pragma once

#include "../../apps/sparselu/matrix.hpp"
#include "../harness/grains.hpp"
#include "../harness/harness.hpp"

#include <cstddef>
#include <map>

namespace bench::sparselu {

using ::sparselu::block;
using ::sparselu::matrix;

inline constexpr std::size_t k_sides[] = {16, 32, 64, 128};  // of a block

/// The factors by the serial program, for each size of blocks.
class answers {
public:
    explicit answers(const arguments& a) : m_rows(static_cast<std::size_t>(a.size)) {
        for (const std::size_t side : k_sides) {
            one& made = m_all.try_emplace(side, one{matrix(m_rows, side), 0}).first->second;
            made.flop = factorise(made.factors).flop;
            if (!(residual(made.factors, matrix(m_rows, side)) < 10)) {
                throw wrong_answer("the residual of the serial program is too large");
            }
        }
    }

    /// how(matrix) factorises it.
    template <class How>
    measurement measured(const How& how) const {
        return best_of(k_sides, [&](std::size_t side) {
            matrix a(m_rows, side);
            const double start = now();
            how(a);
            const double seconds = now() - start;
            if (!a.equals(m_all.at(side).factors)) {
                throw wrong_answer("the factors differ from those of the serial program");
            }
            return m_all.at(side).flop / seconds / 1e9;
        });
    }

private:
    struct one {
        matrix factors;
        double flop;
    };
    std::size_t m_rows;
    std::map<std::size_t, one> m_all;
};

}  // namespace bench::sparselu
