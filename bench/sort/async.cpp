// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../tasks/async.hpp"

namespace bench::sort {

namespace {

const contender async{"sort", "async", solved_by_async<problem>};

}  // namespace

}  // namespace bench::sort
