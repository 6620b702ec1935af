// SPDX-License-Identifier: BSL-1.0
// What arrives at the other locality is a value of its own, to which the caller has no reference.
#include <quern/localities/run_at.hpp>

#ifdef QUERN_MUST_COMPILE
int inc(int x) { return x + 1; }
#else
void inc(int& x) { ++x; }
#endif

int main() {
    int x = 0;
    quern::localities::run_at(0, &inc, x).get();
}
