// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../tasks/tbb.hpp"

namespace bench::uts {

namespace {

const contender group{"uts", "task_group", solved_by_tbb<problem, tbb_group>};

}  // namespace

}  // namespace bench::uts
