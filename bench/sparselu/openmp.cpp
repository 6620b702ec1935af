// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/openmp.hpp"

#include <cstddef>
#include <memory>

namespace bench::sparselu {

namespace {

/// The first number of a block stands for it.
void factorise_by_tasks(matrix& a) {
    for (std::size_t k = 0; k < a.blocks(); ++k) {
        const block kk = a.at(k, k);
#pragma omp task firstprivate(kk) depend(inout : kk.first[0])
        lu0(kk);
        for (std::size_t j = k + 1; j < a.blocks(); ++j) {
            if (a.has(k, j)) {
                const block kj = a.at(k, j);
#pragma omp task firstprivate(kk, kj) depend(in : kk.first[0]) depend(inout : kj.first[0])
                fwd(kk, kj);
            }
        }
        for (std::size_t i = k + 1; i < a.blocks(); ++i) {
            if (!a.has(i, k)) {
                continue;
            }
            const block ik = a.at(i, k);
#pragma omp task firstprivate(kk, ik) depend(in : kk.first[0]) depend(inout : ik.first[0])
            bdiv(kk, ik);
            for (std::size_t j = k + 1; j < a.blocks(); ++j) {
                if (a.has(k, j)) {
                    const block kj = a.at(k, j);
                    const block ij = a.allocated(i, j);
// clang-format off
#pragma omp task firstprivate(ik, kj, ij) depend(in : ik.first[0], kj.first[0]) depend(inout : ij.first[0])
                    // clang-format on
                    bmod(ik, kj, ij);
                }
            }
        }
    }
#pragma omp taskwait
}

const contender depend{"sparselu", "depend", [](const arguments& a) {
                           return openmp_job(a, [all = std::make_shared<answers>(a)] {
                               return all->measured(factorise_by_tasks);
                           });
                       }};

}  // namespace

}  // namespace bench::sparselu
