// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/openmp.hpp"

#include <cstddef>
#include <memory>

namespace bench::gauss_seidel {

namespace {

/// The first number of a block or edge stands for it.
void sweep_by_tasks(grid& g, int sweeps) {
    grid* const it = &g;
    for (int s = 0; s < sweeps; ++s) {
        for (std::size_t i = 0; i < g.blocks(); ++i) {
            for (std::size_t j = 0; j < g.blocks(); ++j) {
                // gcc does not see that the clauses use them.
                [[maybe_unused]] double* const at = g.block(i, j).data();
                [[maybe_unused]] const double* const above = g.above(i, j).data();
                [[maybe_unused]] const double* const left = g.left_of(i, j).data();
                [[maybe_unused]] const double* const below = g.below(i, j).data();
                [[maybe_unused]] const double* const right = g.right_of(i, j).data();
// clang-format off
#pragma omp task firstprivate(it, i, j) depend(inout : at[0]) depend(in : above[0], left[0], below[0], right[0])
                // clang-format on
                it->sweep(i, j);
            }
        }
    }
#pragma omp taskwait
}

const contender depend{"gauss_seidel", "depend", [](const arguments& a) {
                           return openmp_job(a, [all = std::make_shared<answer>(a)] {
                               return all->measured(sweep_by_tasks);
                           });
                       }};

}  // namespace

}  // namespace bench::gauss_seidel
