// SPDX-License-Identifier: BSL-1.0
// An access refers to memory that outlives the task.
#include <quern/dependences/domain.hpp>

int main() {
    quern::domain work;
    int value = 0;
#ifdef QUERN_MUST_COMPILE
    work.spawn(quern::in(value), [] {});
#else
    work.spawn(quern::in(value + 1), [] {});
#endif
}
