// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/openmp.hpp"

namespace bench::fib {

namespace {

long with_task(long n) {
    if (n < 2) {
        return n;
    }
    long a = 0;
#pragma omp task shared(a) firstprivate(n)
    a = with_task(n - 1);
    const long b = with_task(n - 2);
#pragma omp taskwait
    return a + b;
}

const contender task{"fib", "task", [](const arguments& a) {
                         return openmp_job(a, [n = a.size] {
                             return timed([n] { return with_task(n); },
                                          [n](long answer) { check(n, answer); });
                         });
                     }};

}  // namespace

}  // namespace bench::fib
