// SPDX-License-Identifier: BSL-1.0
// The function of a task takes a view of each access, or nothing.
#include <quern/dependences/domain.hpp>

int main() {
    quern::domain work;
    int value = 0;
#ifdef QUERN_MUST_COMPILE
    work.spawn(quern::in(value), [](const int&) {});
#else
    work.spawn(quern::in(value), [](int&) {});
#endif
}
