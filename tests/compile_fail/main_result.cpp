// SPDX-License-Identifier: BSL-1.0
// A body of main whose result is no exit status.
#include <quern/task/main.hpp>

int main(int argc, char** argv) {
#ifdef QUERN_MUST_COMPILE
    return quern::main(argc, argv, [] {});
#else
    return quern::main(argc, argv, [] { return "done"; });
#endif
}
