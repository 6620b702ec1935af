// SPDX-License-Identifier: BSL-1.0
// Asks the dynamic linker for the loaded objects.
#include "library/loaded_objects.hpp"

#include <link.h>
#include <algorithm>
#include <limits>

namespace quern::mpi::detail {

namespace {

struct search {
    const void* address;
    address_range found;
};

address_range range_of(const dl_phdr_info& object) noexcept {
    address_range all{std::numeric_limits<std::uintptr_t>::max(), 0};
    for (int i = 0; i < object.dlpi_phnum; ++i) {
        if (const auto& part = object.dlpi_phdr[i]; part.p_type == PT_LOAD) {
            const std::uintptr_t first = object.dlpi_addr + part.p_vaddr;
            all.first = std::min(all.first, first);
            all.last = std::max(all.last, first + part.p_memsz);
        }
    }
    return all;
}

int look_whether_there(dl_phdr_info* object, std::size_t /*size*/, void* data) noexcept {
    auto& wanted = *static_cast<search*>(data);
    const address_range here = range_of(*object);
    if (!here.contains(wanted.address)) {
        return 0;
    }
    wanted.found = here;
    return 1;
}

}  // namespace

address_range object_of(const void* address) noexcept {
    search wanted{address, {}};
    ::dl_iterate_phdr(look_whether_there, &wanted);
    return wanted.found;
}

}  // namespace quern::mpi::detail
