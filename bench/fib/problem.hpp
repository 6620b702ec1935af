// SPDX-License-Identifier: BSL-1.0
// fib: the doubly recursive Fibonacci function, a task for every call, no cut-off. The calls do no
// other work, so the ratio to the serial function is the cost of a task. Size: the argument. The
// functions are in <runtime>_fib.hpp where other problems use them too.
#pragma once

#include "../harness/harness.hpp"

#include <utility>

namespace bench::fib {

/// By addition, independent of the measured functions.
inline void check(long n, long answer) {
    long a = 0;
    long b = 1;
    for (long i = 0; i < n; ++i) {
        a = std::exchange(b, a + b);
    }
    expect_equal("fib", answer, a);
}

/// A repetition: times f(n) on the calling thread, and checks it.
template <class F>
auto repetition_of(F f, const arguments& a) {
    return [n = a.size, f] {
        return timed([n, f] { return f(n); }, [n](long answer) { check(n, answer); });
    };
}

}  // namespace bench::fib
