// SPDX-License-Identifier: BSL-1.0
// A body that takes no index.
#include <quern/algorithms/parallel_for.hpp>

int main() {
#ifdef QUERN_MUST_COMPILE
    quern::parallel_for(0, 10, [](int) {});
#else
    quern::parallel_for(0, 10, [] {});
#endif
}
