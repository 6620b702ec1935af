// SPDX-License-Identifier: BSL-1.0
// What other threads may do with the deque of a worker: steal, ask, take over, look. The owner's
// functions (push, pop, remove, publish) are not here.
#pragma once

#include <quern/base/detail/clock.hpp>
#include <quern/scheduler/detail/ready_deque.hpp>
#include <quern/scheduler/work.hpp>

namespace quern::detail {

using worker_deque = ready_deque<std_atomics, runnable>;

/// Any thread. Cheap to copy. Each function is that of ready_deque.
class steal_end {
public:
    explicit steal_end(worker_deque& of) noexcept : m_deque(&of) {}

    runnable* steal() const noexcept { return m_deque->steal(); }
    void request_work(tick_count now) const noexcept { m_deque->request_work(now); }
    bool is_silent(tick_count now, tick_count patience) const noexcept {
        return m_deque->is_silent(now, patience);
    }
    bool has_private() const noexcept { return m_deque->has_private(); }

private:
    worker_deque* m_deque;
};

}  // namespace quern::detail
