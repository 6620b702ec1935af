// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"
#include "tbb_fib.hpp"

#include "../harness/tbb.hpp"

namespace bench::fib {

namespace {

const contender group{"fib", "task_group",
                      [](const arguments& a) { return tbb_job(a, repetition_of(with_group, a)); }};
const contender invoke{"fib", "parallel_invoke", [](const arguments& a) {
                           return tbb_job(a, repetition_of(with_invoke, a));
                       }};

}  // namespace

}  // namespace bench::fib
