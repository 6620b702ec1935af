// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../tasks/async.hpp"

namespace bench::nqueens {

namespace {

const contender async{"nqueens", "async", solved_by_async<problem>};

}  // namespace

}  // namespace bench::nqueens
