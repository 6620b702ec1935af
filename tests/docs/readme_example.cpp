// SPDX-License-Identifier: BSL-1.0
// The program on the first screen of README.md, which must stay what it says; check-output.cmake
// compares what it prints, and its text, with that page.
#include <quern/quern.hpp>

#include <cstdio>

// The lines are those of the page:
// clang-format off
long fib(int n) {
    if (n < 2) return n;
    auto [a, b] = quern::fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
    return a + b;
}

int main() {
    auto forty_two = quern::async([] { return 40; }).then([](auto f) { return f.get() + 2; });
    const long sum = quern::parallel_reduce(0, 1000, 0L, [](int i) { return long(i); }, std::plus<>{});
    std::printf("fib(30) = %ld, sum = %ld, answer = %d\n", fib(30), sum, forty_two.get());
}
