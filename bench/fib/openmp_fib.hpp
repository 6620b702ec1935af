// SPDX-License-Identifier: BSL-1.0
// fib on OpenMP. Used by the problems fib and oversubscribed. Static, as in a usual program:
// compilers inline more static functions.
#pragma once

namespace bench::fib {

static long with_task(long n) {
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

}  // namespace bench::fib
