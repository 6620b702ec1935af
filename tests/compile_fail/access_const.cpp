// SPDX-License-Identifier: BSL-1.0
// What is const cannot be written.
#include <quern/dependences/domain.hpp>

int main() {
    quern::domain work;
    const int value = 0;
#ifdef QUERN_MUST_COMPILE
    work.spawn(quern::in(value), [] {});
#else
    work.spawn(quern::out(value), [] {});
#endif
}
