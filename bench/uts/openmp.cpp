// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../tasks/openmp.hpp"

namespace bench::uts {

namespace {

const contender task{"uts", "task", solved_by_openmp<problem>};

}  // namespace

}  // namespace bench::uts
