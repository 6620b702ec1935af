// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../tasks/quern.hpp"

namespace bench::matmul {

namespace {

const contender context{"matmul", "context", solved_by_quern<problem, quern_context>};
const contender plain{"matmul", "plain", solved_by_quern<problem, quern_plain>};
const contender scope{"matmul", "scope", solved_by_quern<problem, quern_scope>};

}  // namespace

}  // namespace bench::matmul
