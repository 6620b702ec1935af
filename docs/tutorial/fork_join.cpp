// SPDX-License-Identifier: BSL-1.0
// Step 1 of the tutorial: a recursion whose two halves may run at the same time.
#include <quern/quern.hpp>

#include <cstdio>

long fib(int n) {
    if (n < 2) return n;
    auto [a, b] = quern::fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
    return a + b;
}

int main(int argc, char** argv) {
    return quern::main(argc, argv, [] { std::printf("fib(30) = %ld\n", fib(30)); });
}
