// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

namespace bench::fib {

namespace {

[[gnu::noinline]] long serial(long n) {  // noinline: a call per call, as the tasks have it
    return n < 2 ? n : serial(n - 1) + serial(n - 2);
}

const contender here{"fib", "serial",
                     [](const arguments& a) -> job { return repetition_of(serial, a); }};

}  // namespace

}  // namespace bench::fib
