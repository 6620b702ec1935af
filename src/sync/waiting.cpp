// SPDX-License-Identifier: BSL-1.0
// The identity of a thread that is no worker: out of line, so that no caller keeps the address of
// thread-local memory across a suspension. Waiting for a gate, which latch and event share.
#include <quern/sync/waiting.hpp>

#include <quern/sync/gate.hpp>

namespace quern::detail {

std::uintptr_t this_thread_outside() noexcept {
    alignas(std::uintptr_t) static thread_local const char identity = 0;
    return reinterpret_cast<std::uintptr_t>(&identity);
}

void wait_for(task_gate& closed) noexcept {
    waiter self;
    wait_in(self, {}, [&closed, &self] { return closed.enqueue(self); });
}

}  // namespace quern::detail
