// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../tasks/openmp.hpp"

namespace bench::matmul {

namespace {

const contender task{"matmul", "task", solved_by_openmp<problem>};

}  // namespace

}  // namespace bench::matmul
