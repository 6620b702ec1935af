// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

namespace bench::matmul {

namespace {

const contender recursion{"matmul", "serial", solved_serially<problem>};

}  // namespace

}  // namespace bench::matmul
