// SPDX-License-Identifier: BSL-1.0
// The identity of a thread that is no worker. Out of line, so that no caller keeps the address of
// thread-local memory across a suspension.
#include <quern/sync/waiting.hpp>

namespace quern::detail {

std::uintptr_t this_thread_outside() noexcept {
    alignas(std::uintptr_t) static thread_local const char identity = 0;
    return reinterpret_cast<std::uintptr_t>(&identity);
}

}  // namespace quern::detail
