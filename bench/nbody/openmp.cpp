// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/openmp.hpp"

#include <cstddef>
#include <memory>

namespace bench::nbody {

namespace {

/// The first number of a block stands for it.
void advance_by_tasks(bodies& all, int steps) {
    bodies* const it = &all;
    for (int s = 0; s < steps; ++s) {
        for (std::size_t i = 0; i < all.blocks(); ++i) {
            // gcc does not see that the clauses use them.
            [[maybe_unused]] double* const sum = all.accelerations(i).x;
            [[maybe_unused]] double* const here = all.positions(i).x;
            for (std::size_t j = 0; j < all.blocks(); ++j) {
                [[maybe_unused]] double* const there = all.positions(j).x;
// clang-format off
#pragma omp task firstprivate(it, i, j) depend(inout : sum[0]) depend(in : here[0], there[0])
                // clang-format on
                it->attract(i, j);
            }
        }
        for (std::size_t i = 0; i < all.blocks(); ++i) {
            [[maybe_unused]] double* const sum = all.accelerations(i).x;
            [[maybe_unused]] double* const here = all.positions(i).x;
            [[maybe_unused]] double* const speed = all.speeds(i).x;
#pragma omp task firstprivate(it, i) depend(inout : sum[0], here[0], speed[0])
            it->move(i);
        }
    }
#pragma omp taskwait
}

const contender depend{"nbody", "depend", [](const arguments& a) {
                           return openmp_job(a, [all = std::make_shared<answer>(a)] {
                               return all->measured(advance_by_tasks);
                           });
                       }};

}  // namespace

}  // namespace bench::nbody
