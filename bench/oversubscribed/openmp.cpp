// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../fib/openmp_fib.hpp"
#include "../harness/openmp.hpp"

namespace bench::oversubscribed {

namespace {

const disturbed task{"task", [](const arguments& a) {
                         return openmp_job(a, fib::repetition_of(fib::with_task, a));
                     }};

}  // namespace

}  // namespace bench::oversubscribed
