// SPDX-License-Identifier: BSL-1.0
// Whether a problem fits into memory, asked before it is made: a system that overcommits memory
// ends a process that touches too much, without a message.
#pragma once

#include <new>

#include <unistd.h>

namespace apps {

/// Throws std::bad_alloc if the machine has less memory than that.
inline void require_memory(double bytes) {
    const double all =
        static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
    if (bytes > all) {
        throw std::bad_alloc();
    }
}

}  // namespace apps
