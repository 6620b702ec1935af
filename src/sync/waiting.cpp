// SPDX-License-Identifier: BSL-1.0
// Waiting for a gate, which latch and event share.
#include <quern/sync/waiting.hpp>

#include <quern/sync/gate.hpp>

namespace quern::detail {

void wait_for(task_gate& closed) noexcept {
    waiter self;
    wait_in(self, {}, [&closed, &self] { return closed.enqueue(self); });
}

}  // namespace quern::detail
