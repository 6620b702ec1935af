// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../tasks/quern.hpp"

namespace bench::skynet {

namespace {

const contender context{"skynet", "context", solved_by_quern<problem, quern_context>};
const contender plain{"skynet", "plain", solved_by_quern<problem, quern_plain>};
const contender scope{"skynet", "scope", solved_by_quern<problem, quern_scope>};
const contender future{"skynet", "future", solved_by_quern<problem, quern_future>};

}  // namespace

}  // namespace bench::skynet
