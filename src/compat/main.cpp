// SPDX-License-Identifier: BSL-1.0
// What stands in place of main in programs that are linked with -Wl,--wrap=main (the CMake target
// hpx_compat does): in those that include hpx/hpx_main.hpp their main becomes a task. A static
// library, since the linker renames in what it links only.
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
