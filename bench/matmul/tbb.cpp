// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../tasks/tbb.hpp"

namespace bench::matmul {

namespace {

const contender group{"matmul", "task_group", solved_by_tbb<problem, tbb_group>};
const contender invoke{"matmul", "parallel_invoke", solved_by_tbb<problem, tbb_invoke>};

}  // namespace

}  // namespace bench::matmul
