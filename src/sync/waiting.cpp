// SPDX-License-Identifier: BSL-1.0
// Waiting for a gate, shared by latch and event.
#include <quern/sync/detail/waiting.hpp>

#include <quern/sync/detail/gate.hpp>

#include "timed_waiting.hpp"

namespace quern::detail {

void wait_for(task_gate& closed, const wait_reason& why) noexcept {
    waiter self;
    wait_in(self, why, [&closed, &self] { return closed.enqueue(self); });
}

bool wait_for_until(task_gate& closed, const wait_reason& why,
                    timer::clock::time_point deadline) noexcept {
    if (closed.is_open()) {
        return true;
    }
    if (has_passed(deadline)) {
        return false;
    }
    waiter self;
    return wait_in_until(
        self, why, deadline, [&closed, &self] { return closed.enqueue_in_time(self); },
        [&closed, &self] { return closed.withdraw(self) && wake_expired(self); });
}

}  // namespace quern::detail
