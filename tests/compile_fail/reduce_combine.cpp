// SPDX-License-Identifier: BSL-1.0
// A combine that does not take two values.
#include <quern/algorithms/parallel_for.hpp>

int main() {
#ifdef QUERN_MUST_COMPILE
    const auto combine = [](long a, long b) { return a + b; };
#else
    const auto combine = [](long a) { return a; };
#endif
    quern::parallel_reduce(
        0, 10, 0L, [](int i) { return i; }, combine);
}
