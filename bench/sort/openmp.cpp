// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../tasks/openmp.hpp"

namespace bench::sort {

namespace {

const contender task{"sort", "task", solved_by_openmp<problem>};

}  // namespace

}  // namespace bench::sort
