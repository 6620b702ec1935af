// SPDX-License-Identifier: BSL-1.0
// parallel_for counts: iterators belong to for_each.
#include <quern/algorithms/parallel_for.hpp>

#include <vector>

int main() {
    std::vector<int> x(10);
#ifdef QUERN_MUST_COMPILE
    quern::parallel_for(std::size_t{0}, x.size(), [&](std::size_t i) { ++x[i]; });
#else
    quern::parallel_for(x.begin(), x.end(), [](int& e) { ++e; });
#endif
}
