// SPDX-License-Identifier: BSL-1.0
#include "problem.hpp"

#include "../harness/quern.hpp"

namespace bench::fib {

namespace {

/// Passes the place for the next fork down the recursion.
inline long with_context(quern::fork_context here, long n) {
    if (n < 2) {
        return n;
    }
    const auto [a, b] = quern::fork_join(
        here, [n](quern::fork_context c) { return with_context(c, n - 1); },
        [n](quern::fork_context c) { return with_context(c, n - 2); });
    return a + b;
}

/// Finds the place in thread-local memory at each fork.
inline long plain(long n) {
    if (n < 2) {
        return n;
    }
    const auto [a, b] =
        quern::fork_join([n] { return plain(n - 1); }, [n] { return plain(n - 2); });
    return a + b;
}

/// An allocated task for every call.
long with_future(long n) {
    if (n < 2) {
        return n;
    }
    auto a = quern::async(with_future, n - 1);
    const long b = with_future(n - 2);
    return a.get() + b;
}

template <class F>
job checked(const arguments& a, F f) {
    return quern_job(a, [n = a.size, f] {
        return timed([n, f] { return f(n); }, [n](long answer) { check(n, answer); });
    });
}

const contender context{"fib", "context", [](const arguments& a) {
                            return checked(a, [](long n) {
                                const auto [answer, nothing] = quern::fork_join(
                                    [n](quern::fork_context c) { return with_context(c, n); },
                                    [] { return 0L; });
                                return answer + nothing;
                            });
                        }};
const contender without_context{"fib", "plain",
                                [](const arguments& a) { return checked(a, plain); }};
const contender future{"fib", "future", [](const arguments& a) { return checked(a, with_future); }};

}  // namespace

}  // namespace bench::fib
