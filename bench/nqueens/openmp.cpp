// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../tasks/openmp.hpp"

namespace bench::nqueens {

namespace {

const contender task{"nqueens", "task", solved_by_openmp<problem>};

}  // namespace

}  // namespace bench::nqueens
