// SPDX-License-Identifier: BSL-1.0
// fib on Quern, by each of its three means. Used by the problems fib and oversubscribed. Static, as
// in a usual program: compilers inline more static functions.
#pragma once

#include <quern/quern.hpp>

namespace bench::fib {

/// Passes the next fork position down the recursion.
static long with_context(quern::fork_context here, long n) {
    if (n < 2) {
        return n;
    }
    const auto [a, b] = quern::fork_join(
        here, [n](quern::fork_context c) { return with_context(c, n - 1); },
        [n](quern::fork_context c) { return with_context(c, n - 2); });
    return a + b;
}

/// Gets the first fork position and begins.
static long from_context(long n) {
    const auto [answer, nothing] = quern::fork_join(
        [n](quern::fork_context c) { return with_context(c, n); }, [] { return 0L; });
    return answer + nothing;
}

/// Finds the fork position in thread-local memory at each fork.
static long plain(long n) {
    if (n < 2) {
        return n;
    }
    const auto [a, b] =
        quern::fork_join([n] { return plain(n - 1); }, [n] { return plain(n - 2); });
    return a + b;
}

/// An allocated task for every call.
static long with_future(long n) {
    if (n < 2) {
        return n;
    }
    auto a = quern::async(with_future, n - 1);
    const long b = with_future(n - 2);
    return a.get() + b;
}

}  // namespace bench::fib
