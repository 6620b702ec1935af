// SPDX-License-Identifier: BSL-1.0
// Replaces main in programs that are linked with -Wl,--wrap=main (by the CMake target hpx_compat):
// if they include hpx/hpx_main.hpp, their main becomes a task. A static library, because the linker
// renames only in its own inputs.
#include <quern/compat/hpx/init.hpp>

extern "C" {
int __real_main(int argc, char** argv);  // NOLINT: the linker's name
extern char quern_hpx_main_is_task __attribute__((weak));

int __wrap_main(int argc, char** argv) {  // NOLINT: the linker's name
    if (&quern_hpx_main_is_task == nullptr) {
        return __real_main(argc, argv);
    }
    return hpx::init([](int count, char** words) { return __real_main(count, words); }, argc, argv);
}
}
