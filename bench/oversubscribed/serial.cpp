// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../fib/serial_fib.hpp"

namespace bench::oversubscribed {

namespace {

const disturbed here{"serial",
                     [](const arguments& a) -> job { return fib::repetition_of(fib::serial, a); }};

}  // namespace

}  // namespace bench::oversubscribed
