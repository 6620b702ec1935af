// SPDX-License-Identifier: BSL-1.0
// The queues of a pool from which every worker takes: work from outside, and items of high and of
// low priority. Each has its own lock.
#pragma once

#include <quern/scheduler/detail/ready_queue.hpp>

#include <cstddef>

namespace quern::detail {

class shared_queues {
public:
    ready_queue& injector() noexcept { return m_injector; }
    ready_queue& high() noexcept { return m_high; }
    ready_queue& low() noexcept { return m_low; }

    /// The queue of items of that priority, or null for normal ones.
    ready_queue* of(priority urgency) noexcept {
        return urgency == priority::high ? &m_high : urgency == priority::low ? &m_low : nullptr;
    }

    /// seq_cst.
    bool empty() const noexcept { return m_injector.empty() && m_high.empty() && m_low.empty(); }
    std::size_t size() const noexcept { return m_injector.size() + m_high.size() + m_low.size(); }

private:
    ready_queue m_injector;
    ready_queue m_high;
    ready_queue m_low;
};

}  // namespace quern::detail
