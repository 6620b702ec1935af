// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../tasks/null_serially.hpp"

namespace bench::parallel_spawn {

namespace {

const null_serially programs("parallel_spawn");

}  // namespace

}  // namespace bench::parallel_spawn
