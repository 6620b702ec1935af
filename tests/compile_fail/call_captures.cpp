// SPDX-License-Identifier: BSL-1.0
// A capture stays at the caller's locality: what the function needs are arguments.
#include <quern/localities/run_at.hpp>

int twice_at(int where, int x) {
#ifdef QUERN_MUST_COMPILE
    return quern::localities::run_at(
               where, [](int y) { return 2 * y; }, x)
        .get();
#else
    return quern::localities::run_at(where, [x] { return 2 * x; }).get();
#endif
}

int main() {}
