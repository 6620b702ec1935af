// SPDX-License-Identifier: BSL-1.0
// Step 2 of the tutorial: results that are needed later, and work that depends on them.
#include <quern/quern.hpp>

#include <cstdio>
#include <stdexcept>
#include <utility>
#include <vector>

long square(long x) {
    if (x < 0) throw std::domain_error("a side is negative");
    return x * x;
}

int main(int argc, char** argv) {
    return quern::main(argc, argv, [] {
        // async starts a task. get() waits for its result.
        quern::future<long> a = quern::async(square, 3);
        quern::future<long> b = quern::async(square, 4);

        // dataflow starts its function when all arguments are ready. Nothing waits meanwhile.
        auto add = quern::unwrapping([](long x, long y) { return x + y; });
        quern::future<long> sum = quern::dataflow(add, std::move(a), std::move(b));

        // then starts its function when one future is ready.
        auto doubled = sum.then([](auto ready) { return 2 * ready.get(); });
        std::printf("2 * (3^2 + 4^2) = %ld\n", doubled.get());

        // when_all gives one future for many.
        std::vector<quern::future<long>> squares;
        for (long x = 1; x <= 100; ++x) {
            squares.push_back(quern::async(square, x));
        }
        long total = 0;
        for (auto& each : quern::when_all(std::move(squares)).get()) {
            total += each.get();
        }
        std::printf("1^2 + ... + 100^2 = %ld\n", total);

        // An exception travels with the future, through then and dataflow, to get().
        auto failing = quern::async(square, -1).then([](auto ready) { return ready.get() + 1; });
        try {
            failing.get();
        } catch (const std::domain_error& error) {
            std::printf("error: %s\n", error.what());
        }
    });
}
