// SPDX-License-Identifier: BSL-1.0
#include "openmp_fib.hpp"
#include "problem.hpp"

#include "../harness/openmp.hpp"

namespace bench::fib {

namespace {

const contender task{"fib", "task",
                     [](const arguments& a) { return openmp_job(a, repetition_of(with_task, a)); }};

}  // namespace

}  // namespace bench::fib
