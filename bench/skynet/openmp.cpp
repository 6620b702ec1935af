// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../tasks/openmp.hpp"

namespace bench::skynet {

namespace {

const contender task{"skynet", "task", solved_by_openmp<problem>};

}  // namespace

}  // namespace bench::skynet
