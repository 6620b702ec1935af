// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../tasks/quern.hpp"

namespace bench::nqueens {

namespace {

const contender context{"nqueens", "context", solved_by_quern<problem, quern_context>};
const contender plain{"nqueens", "plain", solved_by_quern<problem, quern_plain>};
const contender scope{"nqueens", "scope", solved_by_quern<problem, quern_scope>};
const contender future{"nqueens", "future", solved_by_quern<problem, quern_future>};

}  // namespace

}  // namespace bench::nqueens
