// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"
#include "serial_fib.hpp"

namespace bench::fib {

namespace {

const contender here{"fib", "serial",
                     [](const arguments& a) -> job { return repetition_of(serial, a); }};

}  // namespace

}  // namespace bench::fib
