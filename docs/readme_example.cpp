// SPDX-License-Identifier: BSL-1.0
// The program on the first screen of README.md; tests/docs/check_examples.py compares the two, and
// check_outputs.py what it prints.
#include <quern/quern.hpp>

#include <cstdio>
#include <functional>

long fib(int n) {
    if (n < 2) return n;
    auto [a, b] = quern::fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
    return a + b;
}

int main(int argc, char** argv) {
    return quern::main(argc, argv, [] {
        auto answer = quern::async([] { return 40; }).then([](auto f) { return f.get() + 2; });
        const auto value = [](int i) { return long{i}; };
        const long sum = quern::parallel_reduce(0, 1000, 0L, value, std::plus<>{});
        std::printf("fib(30) = %ld, sum = %ld, answer = %d\n", fib(30), sum, answer.get());
    });
}
