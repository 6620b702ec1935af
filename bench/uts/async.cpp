// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../tasks/async.hpp"

namespace bench::uts {

namespace {

const contender async{"uts", "async", solved_by_async<problem>};

}  // namespace

}  // namespace bench::uts
