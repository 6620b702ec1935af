// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../tasks/async.hpp"

namespace bench::matmul {

namespace {

const contender async{"matmul", "async", solved_by_async<problem>};

}  // namespace

}  // namespace bench::matmul
