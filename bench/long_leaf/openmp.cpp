// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/openmp.hpp"

#include <memory>

namespace bench::long_leaf {

namespace {

void with_tasks(family& all) {
    for (long i = 0; i < all.size(); ++i) {
#pragma omp task shared(all) firstprivate(i)
        all.sibling(i);
    }
    all.leaf();
#pragma omp taskwait
}

const contender task{
    "long_leaf", "task", [](const arguments& a) {
        return openmp_job(a, [all = std::make_shared<family>(a)] { return all->run(with_tasks); });
    }};

}  // namespace

}  // namespace bench::long_leaf
