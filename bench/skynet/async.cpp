// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../tasks/async.hpp"

namespace bench::skynet {

namespace {

const contender async{"skynet", "async", solved_by_async<problem>};

}  // namespace

}  // namespace bench::skynet
