// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../tasks/quern.hpp"

namespace bench::sort {

namespace {

const contender context{"sort", "context", solved_by_quern<problem, quern_context>};
const contender plain{"sort", "plain", solved_by_quern<problem, quern_plain>};

}  // namespace

}  // namespace bench::sort
