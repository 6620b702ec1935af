// SPDX-License-Identifier: BSL-1.0
// Before the function come only accesses.
#include <quern/dependences/domain.hpp>

int main() {
    quern::domain work;
    int value = 0;
#ifdef QUERN_MUST_COMPILE
    work.spawn(quern::in(value), [] {});
#else
    work.spawn(value, [] {});
#endif
}
