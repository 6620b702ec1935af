// SPDX-License-Identifier: BSL-1.0
// A task sorts a container that has ended with the call.
#include <quern/algorithms/sort.hpp>

#include <vector>

int main() {
    std::vector<int> x(10);
#ifdef QUERN_MUST_COMPILE
    quern::sort(quern::par, std::vector<int>(10));
    quern::sort(quern::par(quern::as_future), x).get();
#else
    quern::sort(quern::par(quern::as_future), std::vector<int>(10)).get();
#endif
}
