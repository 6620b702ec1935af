// SPDX-License-Identifier: BSL-1.0
// A body that could change the index of the loop.
#include <quern/algorithms/parallel_for.hpp>

#ifdef QUERN_MUST_COMPILE
using index = int;
#else
using index = int&;
#endif

int main() {
    quern::parallel_for(0, 10, [](index i) { ++i; });
}
