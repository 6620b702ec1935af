// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/tbb.hpp"

#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_group.h>

namespace bench::fib {

namespace {

long with_group(long n) {
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

long with_invoke(long n) {
    if (n < 2) {
        return n;
    }
    long a = 0;
    long b = 0;
    tbb::parallel_invoke([&a, n] { a = with_invoke(n - 1); }, [&b, n] { b = with_invoke(n - 2); });
    return a + b;
}

template <class F>
job checked(const arguments& a, F f) {
    return tbb_job(a, [n = a.size, f] {
        return timed([n, f] { return f(n); }, [n](long answer) { check(n, answer); });
    });
}

const contender group{"fib", "task_group",
                      [](const arguments& a) { return checked(a, with_group); }};
const contender invoke{"fib", "parallel_invoke",
                       [](const arguments& a) { return checked(a, with_invoke); }};

}  // namespace

}  // namespace bench::fib
