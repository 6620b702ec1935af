// SPDX-License-Identifier: BSL-1.0
// A pointer is not the object that it points to.
#include <quern/dependences/domain.hpp>

int main() {
    quern::domain work;
    int value = 0;
    int* const p = &value;
#ifdef QUERN_MUST_COMPILE
    work.spawn(quern::in(*p), quern::in(p, 1), [] {});
#else
    work.spawn(quern::in(p), [] {});
#endif
}
