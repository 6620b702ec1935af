// SPDX-License-Identifier: BSL-1.0
// Step 4 of the tutorial: loops and reductions, and the size of their chunks.
#include <quern/quern.hpp>

#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

bool is_prime(int n) {
    if (n < 2) return false;
    for (int d = 2; d * d <= n; ++d) {
        if (n % d == 0) return false;
    }
    return true;
}

int main(int argc, char** argv) {
    return quern::main(argc, argv, [] {
        // Iterations must be independent. No chunk size has to be chosen.
        constexpr int k_points = 1'000'000;
        std::vector<double> y(k_points);
        quern::parallel_for(0, k_points, [&](int i) { y[i] = std::sqrt(double(i)); });
        std::printf("y[250000] = %.0f\n", y[250'000]);

        // initial value, function of an index, function that joins two results
        const int primes = quern::parallel_reduce(
            0, 200'000, 0, [](int n) { return is_prime(n) ? 1 : 0; }, std::plus<>{});
        std::printf("primes below 200000: %d\n", primes);

        // Few long iterations: offer each of them to other workers.
        std::vector<int> below(5);
        quern::parallel_for(0, 5, quern::grain::fixed(1), [&](int i) {
            int limit = 10;
            for (int power = 0; power < i; ++power) {
                limit *= 10;
            }
            for (int n = 0; n < limit; ++n) {
                below[i] += is_prime(n) ? 1 : 0;
            }
        });
        std::printf("below 10^1 to 10^5: %d %d %d %d %d\n", below[0], below[1], below[2], below[3],
                    below[4]);
    });
}
