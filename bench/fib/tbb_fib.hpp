// SPDX-License-Identifier: BSL-1.0
// fib on oneTBB. Used by the problems fib and oversubscribed. Static, as in a usual program:
// compilers inline more static functions.
#pragma once

#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_group.h>

namespace bench::fib {

static long with_group(long n) {
    if (n < 2) {
        return n;
    }
    long a = 0;
    tbb::task_group group;
    group.run([&a, n] { a = with_group(n - 1); });
    const long b = with_group(n - 2);
    group.wait();
    return a + b;
}

static long with_invoke(long n) {
    if (n < 2) {
        return n;
    }
    long a = 0;
    long b = 0;
    tbb::parallel_invoke([&a, n] { a = with_invoke(n - 1); }, [&b, n] { b = with_invoke(n - 2); });
    return a + b;
}

}  // namespace bench::fib
