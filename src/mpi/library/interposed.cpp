// SPDX-License-Identifier: BSL-1.0
// Finds the definitions of MPI's functions that lie between this layer and the MPI library.
#include "library/interposed.hpp"

#include "library/loaded_objects.hpp"

#include <dlfcn.h>
#include <cstring>

namespace quern::mpi::detail {

bool find_next_calls() noexcept {
    const address_range library = object_of(::dlsym(RTLD_NEXT, "PMPI_Init"));
    bool has_tool = false;
    for (const layer_function& each : layer_functions()) {
        void* const found = ::dlsym(RTLD_NEXT, each.name);
        // A library whose functions without P lie in another object than those with P is called
        // by the former, which is as right.
        if (found != nullptr && found != each.own && !library.contains(found)) {
            std::memcpy(each.next, &found, sizeof found);
            has_tool = true;
        }
    }
    return has_tool;
}

}  // namespace quern::mpi::detail
