// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../tasks/null_serially.hpp"

namespace bench::serial_spawn {

namespace {

const null_serially programs("serial_spawn");

}  // namespace

}  // namespace bench::serial_spawn
