// SPDX-License-Identifier: BSL-1.0
// A body of main with the wrong parameters.
#include <quern/task/main.hpp>

int main(int argc, char** argv) {
#ifdef QUERN_MUST_COMPILE
    return quern::main(argc, argv, [](int, char**) { return 0; });
#else
    return quern::main(argc, argv, [](int) { return 0; });
#endif
}
