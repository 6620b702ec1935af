// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../tasks/null_serially.hpp"

namespace bench::loop_null {

namespace {

const null_serially programs("loop_null");

}  // namespace

}  // namespace bench::loop_null
