// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../fib/tbb_fib.hpp"
#include "../harness/tbb.hpp"

namespace bench::oversubscribed {

namespace {

const disturbed group{"task_group", [](const arguments& a) {
                          return tbb_job(a, fib::repetition_of(fib::with_group, a));
                      }};

}  // namespace

}  // namespace bench::oversubscribed
