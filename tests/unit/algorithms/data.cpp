// SPDX-License-Identifier: BSL-1.0
// The data of the tests of the parallel algorithms, and the order that is expected of them.
// Optimised, unlike the tests: making them took most of the tests' time.
#include "unit/algorithms/sorting_data.hpp"

#include <algorithm>
#include <random>

namespace quern_test {

std::vector<int> numbers(std::size_t n, int range) {
    std::mt19937 random(static_cast<unsigned>(n) + static_cast<unsigned>(range));
    std::uniform_int_distribution<int> any(0, range - 1);
    std::vector<int> all(n);
    for (int& each : all) {
        each = any(random);
    }
    return all;
}

std::vector<int> sorted(std::vector<int> x) {
    std::sort(x.begin(), x.end());
    return x;
}

}  // namespace quern_test
