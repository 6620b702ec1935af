// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../tasks/quern.hpp"

namespace bench::uts {

namespace {

const contender context{"uts", "context", solved_by_quern<problem, quern_context>};
const contender plain{"uts", "plain", solved_by_quern<problem, quern_plain>};
const contender scope{"uts", "scope", solved_by_quern<problem, quern_scope>};
const contender future{"uts", "future", solved_by_quern<problem, quern_future>};

}  // namespace

}  // namespace bench::uts
