// SPDX-License-Identifier: BSL-1.0
// A function that needs an argument.
#include <quern/task/task_group.hpp>

int main() {
    quern::task_group group;
#ifdef QUERN_MUST_COMPILE
    group.run([] {});
#else
    group.run([](int) {});
#endif
    group.wait();
}
