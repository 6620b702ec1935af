// SPDX-License-Identifier: BSL-1.0
// parallel_reduce counts: iterators belong to transform_reduce.
#include <quern/algorithms/parallel_for.hpp>

#include <functional>
#include <vector>

int main() {
    const std::vector<int> x(10);
#ifdef QUERN_MUST_COMPILE
    quern::parallel_reduce(
        0, 10, 0, [&](int i) { return x[i]; }, std::plus<>());
#else
    quern::parallel_reduce(
        x.begin(), x.end(), 0, [](int e) { return e; }, std::plus<>());
#endif
}
