// SPDX-License-Identifier: BSL-1.0
// Arguments behind the function, as async takes them.
#include <quern/task/task_group.hpp>

void work(int) {}

int main() {
    quern::task_group group;
#ifdef QUERN_MUST_COMPILE
    group.run({.name = "work"}, [] { work(1); });
#else
    group.run(work, 1);
#endif
    group.wait();
}
