// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../tasks/tbb.hpp"

namespace bench::nqueens {

namespace {

const contender group{"nqueens", "task_group", solved_by_tbb<problem, tbb_group>};

}  // namespace

}  // namespace bench::nqueens
