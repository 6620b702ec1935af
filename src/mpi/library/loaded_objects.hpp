// SPDX-License-Identifier: BSL-1.0
// The program and the shared libraries of the process, as the dynamic linker has loaded them.
#pragma once

#include <cstdint>

namespace quern::mpi::detail {

/// Where an object lies in memory.
struct address_range {
    std::uintptr_t first = 0;
    std::uintptr_t last = 0;  ///< behind it

    bool contains(const void* address) const noexcept {
        const auto at = reinterpret_cast<std::uintptr_t>(address);
        return at >= first && at < last;
    }
};

/// The object that contains an address; empty if none does.
address_range object_of(const void* address) noexcept;

}  // namespace quern::mpi::detail
